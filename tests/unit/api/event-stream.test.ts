import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { handler } from '../../../api/http/handler';
import { errorHandler } from '../../../api/middleware/errors';
import type { EventStream } from '../../../api/sse/event-stream';
import { openEventStream } from '../../../api/sse/event-stream';
import { createSilentLogger } from '../../../observability';

const HEARTBEAT_MS = 20;

let server: Server;
let hangUps: number;
let shutdown: AbortController;
let work: (stream: EventStream) => Promise<void>;

beforeEach(async () => {
  hangUps = 0;
  shutdown = new AbortController();
  const app = express();
  app.get(
    '/stream',
    handler(async (_request, response) => {
      const options = { heartbeatMs: HEARTBEAT_MS, shutdown: shutdown.signal, onHangUp: () => (hangUps += 1) };
      const stream = openEventStream(response, options);
      await stream.complete(() => work(stream));
    }),
  );
  app.get(
    '/half',
    handler((_request, response) => {
      response.write('half an answer');
      throw new Error('the rest is gone');
    }),
  );
  app.use(errorHandler(createSilentLogger()));
  server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

function open(path: string, signal?: AbortSignal): Promise<Response> {
  return fetch(
    `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    signal === undefined ? {} : { signal },
  );
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test('an answer that succeeds ends in order, and nobody hung up', async () => {
  work = (stream) => stream.write('all of it');
  expect(await (await open('/stream')).text()).toBe('all of it');
  await pause(HEARTBEAT_MS);
  expect(hangUps).toBe(0);
});

test('an answer that fails half-way breaks off instead of going on with signs of life, and nobody hung up', async () => {
  work = async (stream) => {
    await stream.write('half of it');
    throw new Error('the rest is gone');
  };
  await expect((await open('/stream')).text()).rejects.toThrow();
  await pause(HEARTBEAT_MS);
  expect(hangUps).toBe(0);
});

test('an answer that is broken off by the end of the process is no hang-up', async () => {
  work = async (stream) => {
    await stream.write('half of it');
    shutdown.abort();
    await once(stream.signal, 'abort');
  };
  await expect((await open('/stream')).text()).rejects.toThrow();
  await pause(HEARTBEAT_MS);
  expect(hangUps).toBe(0);
});

test('a reader that goes away has hung up, once', async () => {
  work = (stream) => once(stream.signal, 'abort').then(() => undefined);
  const reader = new AbortController();
  await open('/stream', reader.signal);
  reader.abort();
  while (hangUps === 0) await pause(HEARTBEAT_MS);
  await pause(HEARTBEAT_MS);
  expect(hangUps).toBe(1);
});

test('any other answer that fails half-way breaks off too', async () => {
  await expect(open('/half').then((response) => response.text())).rejects.toThrow();
});
