/** The front over real HTTP, with small servers in the place of the instances. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startFront, UPSTREAM_HEADER, type Front } from '../../../scripts/instances/front';

const servers: Server[] = [];
let front: Front | undefined;

afterEach(async () => {
  await front?.close();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function listen(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

async function inFrontOf(a: RequestListener, b: RequestListener): Promise<string> {
  const ports = await Promise.all([listen(a), listen(b)]);
  front = await startFront({
    port: 0,
    upstreams: [
      { name: 'a', port: ports[0] },
      { name: 'b', port: ports[1] },
    ],
  });
  return front.url;
}

const say =
  (text: string): RequestListener =>
  (_request, response) =>
    void response.end(text);

async function whoAnswers(url: string): Promise<string | null> {
  const response = await fetch(url);
  await response.arrayBuffer();
  return response.headers.get(UPSTREAM_HEADER);
}

it('asks the instances in turn and says who answered', async () => {
  const url = await inFrontOf(say('A'), say('B'));
  const names = [];
  for (let request = 0; request < 4; request += 1) names.push(await whoAnswers(url));
  expect(names).toEqual(['a', 'b', 'a', 'b']);
});

it('passes over an instance that is down, and comes back to it', async () => {
  const url = await inFrontOf(say('A'), say('B'));
  const b = servers[1];
  const { port } = b?.address() as AddressInfo;
  b?.closeAllConnections();
  await new Promise((resolve) => b?.close(resolve));
  expect([await whoAnswers(url), await whoAnswers(url), await whoAnswers(url)]).toEqual(['a', 'a', 'a']);
  await new Promise<void>((resolve) => b?.listen(port, '127.0.0.1', resolve));
  expect(await whoAnswers(url)).toBe('b');
});

it('says so where no instance answers', async () => {
  const url = await inFrontOf(say('A'), say('B'));
  for (const server of servers) await new Promise((resolve) => server.close(resolve));
  const response = await fetch(url);
  expect([response.status, await response.json()]).toEqual([503, { detail: 'No instance answers.' }]);
});

it('hands on each piece of a stream before the next one is there, and the end of a reader to the instance', async () => {
  let goOn: () => void = () => undefined;
  let left: () => void = () => undefined;
  const readerLeft = new Promise<void>((resolve) => (left = resolve));
  const stream: RequestListener = (_request, response) => {
    response.on('close', () => left());
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: 1\n\n');
    goOn = () => void response.write('data: 2\n\n');
  };
  const url = await inFrontOf(stream, stream);
  const response = await fetch(url);
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const next = async () => Buffer.from((await reader.read()).value ?? []).toString();
  expect(await next()).toBe('data: 1\n\n');
  goOn();
  expect(await next()).toBe('data: 2\n\n');
  await reader.cancel();
  await readerLeft;
});

it('passes on method, path, headers and body as they came', async () => {
  const echo: RequestListener = (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { method, url, headers } = request;
      const size = Buffer.concat(parts).length;
      response.writeHead(201, { 'set-cookie': ['one=1', 'two=2'], 'x-mark': 'yes' });
      response.end(JSON.stringify({ method, url, size, host: headers.host, mark: headers['last-event-id'] }));
    });
  };
  const url = await inFrontOf(echo, echo);
  const body = Buffer.alloc(3_000_000, 'x');
  for (const sent of [body, new Blob([body]).stream()]) {
    const init = { method: 'PUT', body: sent, headers: { 'last-event-id': '7' }, duplex: 'half' } as RequestInit;
    const response = await fetch(`${url}/some/path?x=%20y`, init);
    expect(response.status).toBe(201);
    expect(response.headers.getSetCookie()).toEqual(['one=1', 'two=2']);
    const expected = { method: 'PUT', url: '/some/path?x=%20y', size: body.length, host: new URL(url).host, mark: '7' };
    expect(await response.json()).toEqual(expected);
  }
});

it('never asks a second instance after the first one has got the request', async () => {
  let asked = 0;
  const dies: RequestListener = (request) => {
    asked += 1;
    request.socket.destroy();
  };
  const url = await inFrontOf(dies, dies);
  const response = await fetch(url, { method: 'POST', body: 'do it' });
  expect(response.status).toBe(502);
  expect(asked).toBe(1);
});

it('does not let an answer that broke off look whole', async () => {
  const breaks: RequestListener = (_request, response) => {
    response.write('half', () => response.destroy());
  };
  const url = await inFrontOf(breaks, breaks);
  await expect(fetch(url).then((response) => response.text())).rejects.toThrow();
});
