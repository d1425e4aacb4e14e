/**
 * How a command reaches the process that keeps the instances: HTTP on the loopback interface, with a secret that only
 * the owner of the folder can read.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AppError, isAppError } from '../../contracts';
import type { Part, PartStatus } from './part';

export interface ControlAccess {
  url: string;
  token: string;
}

export interface ControlServer {
  access: ControlAccess;
  close(): Promise<void>;
}

/** Longer than a worker takes to drain. */
const CALL_LIMIT_MS = 120_000;

export async function startControl(options: { port: number; parts: readonly Part[] }): Promise<ControlServer> {
  const token = randomBytes(24).toString('base64url');
  const server = createServer((request, response) => {
    if (!isAllowed(request, token)) return answer(response, 403, { message: 'Wrong secret.' });
    obey(request, options.parts).then(
      (status) => answer(response, 200, status),
      (error: unknown) => answer(response, 409, { message: isAppError(error) ? error.message : String(error) }),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, '127.0.0.1', resolve);
  });
  return {
    access: { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function obey(request: IncomingMessage, parts: readonly Part[]): Promise<PartStatus[]> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://control');
  const [, verb = '', name = ''] = pathname.split('/');
  if (verb !== 'status') {
    const part = parts.find((candidate) => candidate.name === name);
    if (part === undefined) throw new AppError('bad_request', `There is no ${name}: ${namesOf(parts)}.`);
    if (verb === 'start') await part.start();
    else await part.stop(searchParams.get('kill') === '1' ? 'now' : 'drain');
  }
  return parts.map((part) => part.status());
}

function namesOf(parts: readonly Part[]): string {
  return `choose one of ${parts.map(({ name }) => name).join(', ')}`;
}

function isAllowed(request: IncomingMessage, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(request.headers.authorization ?? ''), digest(`Bearer ${token}`));
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

export interface Control {
  status(): Promise<PartStatus[]>;
  start(name: string): Promise<PartStatus[]>;
  stop(name: string, options: { kill: boolean }): Promise<PartStatus[]>;
}

export function createControl({ url, token }: ControlAccess): Control {
  const call = async (path: string): Promise<PartStatus[]> => {
    const init = { method: 'POST', headers: { authorization: `Bearer ${token}` } };
    const response = await fetch(url + path, { ...init, signal: AbortSignal.timeout(CALL_LIMIT_MS) });
    const body = (await response.json()) as PartStatus[] | { message: string };
    if (Array.isArray(body)) return body;
    throw new AppError('conflict', body.message);
  };
  const named = (verb: string, name: string) => `/${verb}/${encodeURIComponent(name)}`;
  return {
    status: () => call('/status'),
    start: (name) => call(named('start', name)),
    stop: (name, { kill }) => call(`${named('stop', name)}${kill ? '?kill=1' : ''}`),
  };
}
