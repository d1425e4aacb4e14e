import { createServer as createTcpServer } from 'node:net';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSafeHttp, type SafeHttp } from '../../../sandbox';
import { isPublicAddress } from '../../../sandbox/network/addresses';
import { failure, never } from './support';

const servers: Array<{ close(): void }> = [];
afterEach(() => servers.splice(0).forEach((server) => server.close()));

async function serve(listener: RequestListener): Promise<{ port: number; requests: string[] }> {
  const requests: string[] = [];
  const server: Server = createServer((request, response) => {
    requests.push(`${request.method} ${request.headers.host}${request.url}`);
    listener(request, response);
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  servers.push({
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
  return { port: (server.address() as AddressInfo).port, requests };
}

function post(http: SafeHttp, url: string, options: { timeoutMs?: number; signal?: AbortSignal; body?: string } = {}) {
  const { timeoutMs = 5_000, signal = never, body = '{}' } = options;
  return http.post(url, { headers: { 'content-type': 'application/json' }, body, signal, timeoutMs });
}

const strict = createSafeHttp({ allowPrivateAddresses: false });
const open = createSafeHttp({ allowPrivateAddresses: true });

describe('addresses', () => {
  it.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.1.1',
    '127.0.0.1',
    '169.254.169.254',
    '172.31.0.1',
    '192.0.0.8',
    '192.0.2.1',
    '192.168.1.1',
    '198.19.255.255',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:10.0.0.1',
    '::ffff:127.0.0.1',
    '64:ff9b::808:808',
    'fc00::1',
    'fe80::1',
    'fe80::1%eth0',
    'ff02::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '3fff::1',
    'not an address',
    '',
  ])('%j is not public', (address) => expect(isPublicAddress(address)).toBe(false));

  it.each([
    '8.8.8.8',
    '1.1.1.1',
    '100.63.255.255',
    '172.32.0.1',
    '::ffff:8.8.8.8',
    '2606:4700::1111',
    '2001:4860:4860::8888',
  ])('%s is public', (address) => expect(isPublicAddress(address)).toBe(true));
});

describe('URLs that are refused', () => {
  it.each([
    'http://127.0.0.1:1/x',
    'http://100.64.1.1/',
    'http://[::ffff:10.0.0.1]/',
    'http://[::1]:8080/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://0177.0.0.1/',
    'http://localhost/',
    'http://localhost./',
    'http://sub.localhost/',
    'http://metadata.google.internal/',
    'ftp://example.com/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'not a url',
    '',
  ])('%s', async (url) => expect(await failure(post(strict, url))).toMatchObject({ code: 'unsafe_url' }));

  it('a name with one private address among public ones, without a connection', async () => {
    const { port, requests } = await serve((_, response) => response.end());
    const http = createSafeHttp({
      allowPrivateAddresses: false,
      resolve: async () => [
        { address: '8.8.8.8', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ],
    });
    expect(await failure(post(http, `http://hooks.example:${port}/`))).toMatchObject({ code: 'unsafe_url' });
    expect(requests).toEqual([]);
  });

  it('a name that turns private at the moment of connecting', async () => {
    const { port, requests } = await serve((_, response) => response.end());
    const answers = ['8.8.8.8', '127.0.0.1'];
    let asked = 0;
    const http = createSafeHttp({
      allowPrivateAddresses: false,
      resolve: async () => [{ address: answers[Math.min(asked++, 1)] ?? '', family: 4 }],
    });
    // The first answer is the one connected to: it is not asked for again, so the second cannot slip in.
    await failure(post(http, `http://rebind.example:${port}/`, { timeoutMs: 300 }));
    expect(asked).toBe(1);
    expect(await failure(post(http, `http://rebind.example:${port}/`))).toMatchObject({ code: 'unsafe_url' });
    expect(requests).toEqual([]);
  });

  it('messages hold neither path nor query of the URL', async () => {
    for (const url of ['http://127.0.0.1/secret?token=s3cret', 'http://gone.invalid/secret?token=s3cret']) {
      const error = await failure(post(createSafeHttp({ allowPrivateAddresses: false, resolve: async () => [] }), url));
      expect(error.message).not.toMatch(/secret|s3cret/);
    }
  });
});

describe('exchanges', () => {
  it('posts the body and gives status, headers and text back', async () => {
    const { port, requests } = await serve((request, response) => {
      let body = '';
      request.on('data', (piece) => (body += piece));
      request.on('end', () => response.writeHead(201, { 'x-a': 'b' }).end(`got ${body}`));
    });
    const answer = await post(open, `http://127.0.0.1:${port}/hook?a=1`, { body: '{"ä":1}' });
    expect(answer).toMatchObject({ status: 201, body: 'got {"ä":1}', truncated: false });
    expect(answer.headers['x-a']).toBe('b');
    expect(requests).toEqual([`POST 127.0.0.1:${port}/hook?a=1`]);
  });

  it('connects to the address that the resolver gave', async () => {
    const { port, requests } = await serve((_, response) => response.end('ok'));
    const http = createSafeHttp({
      allowPrivateAddresses: true,
      resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    });
    expect((await post(http, `http://hooks.example:${port}/`)).body).toBe('ok');
    expect(requests).toEqual([`POST hooks.example:${port}/`]);
  });

  it('does not follow redirects', async () => {
    const { port, requests } = await serve((_, response) => response.writeHead(302, { location: '/other' }).end());
    expect((await post(open, `http://127.0.0.1:${port}/`)).status).toBe(302);
    expect(requests).toHaveLength(1);
  });

  it('keeps 64 KiB of the body and hangs up', async () => {
    let closed: (value: unknown) => void = () => undefined;
    const hungUp = new Promise((resolve) => (closed = resolve));
    const { port } = await serve((_, response) => {
      const timer = setInterval(() => response.write('x'.repeat(50_000)), 1);
      response.on('close', () => {
        clearInterval(timer);
        closed(true);
      });
    });
    const answer = await post(open, `http://127.0.0.1:${port}/`);
    expect([answer.body.length, answer.truncated]).toEqual([65_536, true]);
    expect(await hungUp).toBe(true);
  });

  it('ends after the time-out, also in the middle of a body', async () => {
    const { port } = await serve((_, response) => void response.write('x'));
    const started = Date.now();
    const error = await failure(post(open, `http://127.0.0.1:${port}/`, { timeoutMs: 200 }));
    expect(error).toMatchObject({ code: 'unavailable' });
    expect(error.message).toContain('no answer within 200 ms');
    expect(Date.now() - started).toBeLessThan(2_000);
  });

  it('ends with the reason of the signal', async () => {
    const { port } = await serve(() => undefined);
    const controller = new AbortController();
    const reason = new Error('stopped');
    setTimeout(() => controller.abort(reason), 50);
    expect(await failure(post(open, `http://127.0.0.1:${port}/`, { signal: controller.signal }))).toBe(reason);
  });

  it('a closed port, a name without addresses and an answer that is no HTTP are unavailable', async () => {
    const server = createTcpServer((socket) => socket.end('hello\r\n\r\n')).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    servers.push(server);
    const { port } = server.address() as AddressInfo;
    const nameless = createSafeHttp({ allowPrivateAddresses: false, resolve: async () => [] });
    expect(await failure(post(open, 'http://127.0.0.1:1/'))).toMatchObject({ code: 'unavailable' });
    expect(await failure(post(nameless, 'http://gone.example/'))).toMatchObject({ code: 'unavailable' });
    expect(await failure(post(open, `http://127.0.0.1:${port}/`))).toMatchObject({ code: 'unavailable' });
  });
});
