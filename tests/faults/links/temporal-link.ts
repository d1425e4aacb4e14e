/** A link to Temporal that knows which call passes: a gRPC proxy for plain HTTP/2. */
import type {
  ClientHttp2Session,
  IncomingHttpHeaders,
  IncomingHttpStatusHeader,
  OutgoingHttpHeaders,
  ServerHttp2Session,
  ServerHttp2Stream,
} from 'node:http2';
import { connect, constants, createServer, sensitiveHeaders } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { Points } from './points';
import type { TcpLink } from './tcp-link';
import { startTcpLink } from './tcp-link';

const WINDOW_BYTES = 4 * 1024 * 1024;
const SETTINGS = { initialWindowSize: WINDOW_BYTES };

/** An answer to a poll that brings no task is only a few bytes long. */
const TASK_BYTES = 100;

const OF_ONE_CONNECTION = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade']);

/** Process, TCP link (slow, silent, cut), HTTP/2 proxy (points), server. */
export async function startTemporalLink(targetPort: () => number, points: Points): Promise<TcpLink> {
  const server = createServer({ settings: SETTINGS });
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => {
    sessions.add(session);
    session.setLocalWindowSize(WINDOW_BYTES);
    const upstream = connect(`http://127.0.0.1:${targetPort()}`, { settings: SETTINGS });
    upstream.on('connect', () => upstream.setLocalWindowSize(WINDOW_BYTES));
    // Whatever ends one side ends the other.
    upstream.on('error', () => undefined);
    upstream.on('close', () => session.destroy());
    session.on('error', () => undefined);
    session.on('close', () => {
      sessions.delete(session);
      upstream.destroy();
    });
    session.on('stream', (stream, headers) => {
      stream.on('error', () => undefined);
      relay({ stream, headers, upstream, points, cut: () => session.destroy() }).catch(() => session.destroy());
    });
  });
  server.on('sessionError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const front = await startTcpLink({ targetPort: () => (server.address() as AddressInfo).port });
  const closeFront = front.close.bind(front);
  return Object.assign(front, {
    async close() {
      await closeFront();
      for (const session of sessions) session.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  });
}

interface Call {
  stream: ServerHttp2Stream;
  headers: IncomingHttpHeaders;
  upstream: ClientHttp2Session;
  points: Points;
  cut: () => void;
}

/** All calls of Temporal are unary: the answer is handed on as a whole. */
async function relay({ stream, headers, upstream, points, cut }: Call): Promise<void> {
  const method = String(headers[':path']).split('/').at(-1) ?? '';
  const operation = `temporal:${method}`;
  if ((await points.meet({ operation, moment: 'before' })) === 'cut') return cut();
  if (stream.destroyed || upstream.destroyed) return cut();
  const request = upstream.request(endToEnd(headers));
  request.on('error', () => undefined);
  stream.pipe(request);
  stream.on('close', () => request.close(constants.NGHTTP2_CANCEL));
  const answer = await wholeAnswer(request);
  if (stream.destroyed) return;
  if (answer === null) return void stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  const isEmptyPoll = method.startsWith('Poll') && answer.body.length < TASK_BYTES;
  const fate = isEmptyPoll ? undefined : points.meet({ operation, moment: 'after' });
  if (fate !== undefined && (await fate) === 'cut') return cut();
  if (!stream.destroyed) send(stream, answer);
}

interface Answer {
  headers: OutgoingHttpHeaders;
  body: Buffer;
  trailers: OutgoingHttpHeaders | null;
}

function wholeAnswer(request: ReturnType<ClientHttp2Session['request']>): Promise<Answer | null> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    let headers: OutgoingHttpHeaders | null = null;
    let trailers: OutgoingHttpHeaders | null = null;
    let ended = false;
    request.on('response', (received) => (headers = endToEnd(received)));
    request.on('trailers', (received) => (trailers = endToEnd(received)));
    request.on('data', (chunk: Buffer) => parts.push(chunk));
    request.on('end', () => (ended = true));
    request.on('close', () => {
      const whole = ended && headers !== null && request.rstCode === constants.NGHTTP2_NO_ERROR;
      resolve(whole && headers !== null ? { headers, body: Buffer.concat(parts), trailers } : null);
    });
  });
}

function send(stream: ServerHttp2Stream, { headers, body, trailers }: Answer): void {
  if (trailers === null) {
    // A refusal consists of headers alone; gRPC finds its status there.
    stream.respond(headers, { endStream: body.length === 0 });
    if (body.length > 0) stream.end(body);
    return;
  }
  stream.respond(headers, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  stream.end(body);
}

function endToEnd(headers: IncomingHttpHeaders & IncomingHttpStatusHeader): OutgoingHttpHeaders {
  const kept = Object.entries(headers).filter(([name]) => !OF_ONE_CONNECTION.has(name));
  return { ...Object.fromEntries(kept), [sensitiveHeaders]: [] };
}
