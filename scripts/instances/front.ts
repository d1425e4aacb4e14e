/**
 * One address in front of the instances: each request goes to the next one in turn, and past one that is down. Bodies
 * pass as they come, in both directions, so that streams are not held up.
 */
import { createServer, request as openRequest, type IncomingHttpHeaders } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';
import { AppError } from '../../contracts';

export const UPSTREAM_HEADER = 'x-deerflow-upstream';

export interface Upstream {
  name: string;
  port: number;
}

export interface Front {
  url: string;
  /** Breaks off what is under way. */
  close(): Promise<void>;
}

const HOST = '127.0.0.1';
const CONNECT_LIMIT_MS = 1_000;
/** Headers that say something of one connection only. */
const HOP_BY_HOP = ['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'];

export async function startFront(options: { port: number; upstreams: readonly Upstream[] }): Promise<Front> {
  const { port, upstreams } = options;
  let turn = 0;
  const server = createServer((request, response) => {
    const first = turn++ % upstreams.length;
    const inTurn = [...upstreams.slice(first), ...upstreams.slice(0, first)];
    forward(request, response, inTurn).catch(() => response.destroy());
  });
  // A stream lasts as long as its run, and an upload as long as it takes.
  server.requestTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      reject(new AppError('unavailable', `The front cannot listen on port ${port}: ${cause.code}.`, { cause }));
    });
    server.listen(port, HOST, resolve);
  });
  return {
    url: `http://${HOST}:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Tries only to connect: once bytes were sent to an instance, a second one could do the same work again. */
async function forward(request: IncomingMessage, response: ServerResponse, upstreams: readonly Upstream[]) {
  for (const upstream of upstreams) {
    const socket = await connectTo(upstream.port);
    if (socket !== null) return pass(request, response, { name: upstream.name, socket });
  }
  refuse(response, 503, 'No instance answers.');
}

function pass(request: IncomingMessage, response: ServerResponse, to: { name: string; socket: Socket }): void {
  const onward = openRequest({
    createConnection: () => to.socket,
    method: request.method,
    path: request.url,
    setHost: false,
    headers: {
      ...endToEnd(request.headers),
      ...(request.headers['transfer-encoding'] === undefined ? {} : { 'transfer-encoding': 'chunked' }),
      'x-forwarded-for': request.socket.remoteAddress ?? '',
      'x-forwarded-proto': 'http',
    },
  });
  response.once('close', () => onward.destroy());
  onward.once('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, { ...endToEnd(answer.headers), [UPSTREAM_HEADER]: to.name });
    response.flushHeaders();
    // A broken answer breaks the one to the client too: it must not look whole.
    pipeline(answer, response, () => undefined);
  });
  onward.on('error', () => {
    if (!response.headersSent) refuse(response, 502, `Instance ${to.name} broke off before it answered.`);
  });
  request.pipe(onward);
}

function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.includes(name)));
}

/** Null where the instance is down, or does not take a connection in time. */
function connectTo(port: number): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: HOST });
    const give = (result: Socket | null) => {
      socket.setTimeout(0);
      socket.off('timeout', onFailure).off('error', onFailure);
      if (result === null) socket.on('error', () => undefined).destroy();
      resolve(result);
    };
    const onFailure = () => give(null);
    socket.setTimeout(CONNECT_LIMIT_MS);
    socket.on('timeout', onFailure).on('error', onFailure);
    socket.once('connect', () => give(socket));
  });
}

function refuse(response: ServerResponse, status: number, detail: string): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ detail }));
}
