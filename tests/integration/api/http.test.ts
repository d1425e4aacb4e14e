import { request as httpRequest } from 'node:http';
import { randomUUID } from 'node:crypto';
import type { ApiHarness } from '../../support/api-harness';
import { startApiHarness } from '../../support/api-harness';
import { createDatabase, createStores } from '../../../db';

let api: ApiHarness;
beforeAll(async () => {
  api = await startApiHarness({ settings: { corsOrigins: ['https://ui.example.com'] } });
});
afterAll(() => api.close());

/** A request with headers that `fetch` sets by itself. */
function rawStatus(path: string, method: string, headers: Record<string, string>, body = ''): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(api.url + path, { method, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.once('error', reject);
    request.end(body);
  });
}

describe('a body', () => {
  it.each([
    ['that is missing', undefined, { type: 'missing', loc: ['body'], msg: 'Field required', input: null }],
    [
      'that is no JSON',
      '{bad',
      {
        type: 'json_invalid',
        loc: ['body', 1],
        msg: 'JSON decode error',
        input: {},
        ctx: { error: 'Expecting property name enclosed in double quotes' },
      },
    ],
    [
      'that is a list',
      '[]',
      {
        type: 'model_attributes_type',
        loc: ['body'],
        msg: 'Input should be a valid dictionary or object to extract fields from',
        input: [],
      },
    ],
  ])('%s is told so', async (_what, body, fault) => {
    for (const path of ['/api/threads', `/api/threads/${randomUUID()}/runs/stream`]) {
      const answer = await api.request('POST', path, body);
      expect(answer).toMatchObject({ status: 422, body: { detail: [fault] } });
    }
  });

  it('of another type than JSON is refused', async () => {
    const answer = await api.request('POST', '/api/threads', '{}', { 'content-type': 'text/plain' });
    expect(answer).toMatchObject({ status: 422, body: { detail: [{ type: 'model_attributes_type', input: '{}' }] } });
  });

  it('nested thousands of levels deep is refused, not a failure', async () => {
    const deep = `${'{"a":'.repeat(3000)}1${'}'.repeat(3000)}`;
    const answer = await api.request('POST', '/api/runs', `{"input":${deep}}`);
    expect(answer.status).toBe(422);
  });

  it('of brackets or of millions of values is refused before it is parsed', async () => {
    for (const body of ['['.repeat(15_000_000), `{"metadata":{"a":[${'1,'.repeat(7_000_000)}1]}}`]) {
      const begun = Date.now();
      const answer = await api.request('POST', '/api/threads', body);
      expect(answer).toMatchObject({
        status: 422,
        body: { detail: [{ type: 'value_error', loc: ['body'], input: {} }] },
      });
      expect(Date.now() - begun).toBeLessThan(2_000);
    }
  });

  it('with any number of faults is told a hundred of them', async () => {
    const numbers = Array.from({ length: 200_000 }, (_, place) => place);
    const keys = Object.fromEntries(numbers.slice(0, 50_000).map((place) => [`k${place}`, place]));
    for (const [path, body] of [
      ['/api/threads/search', { ids: numbers }],
      ['/api/runs', keys],
      ['/api/runs', { stream_mode: 'values', interrupt_before: ['x'], conversation_references: numbers, ...keys }],
    ] as const) {
      const answer = await api.request('POST', path, body);
      expect(answer.status).toBe(422);
      expect((answer.body as { detail: unknown[] }).detail).toHaveLength(100);
    }
  });

  it('larger than 20 MB is refused, and one of 15 MB is not', async () => {
    const body = (megabytes: number): string =>
      JSON.stringify({ metadata: { a: 'x'.repeat(megabytes * 1024 * 1024) } });
    expect((await api.request('POST', '/api/threads', body(21))).status).toBe(413);
    expect((await api.request('POST', '/api/threads', body(15))).status).toBe(200);
  });
});

describe('a path', () => {
  it('that no route knows is not found', async () => {
    for (const path of ['/api/nope', '/nope', '/api/threads/a/b/c', '/api/langgraph/runs/crons']) {
      expect(await api.request('POST', path, {})).toMatchObject({ status: 404, body: { detail: 'Not Found' } });
    }
  });

  it('that is known tells which methods it takes', async () => {
    const answer = await api.request('PUT', `/api/langgraph/threads/${randomUUID()}`, {});
    expect(answer).toMatchObject({ status: 405, body: { detail: 'Method Not Allowed' } });
    expect(answer.headers.get('allow')).toBe('DELETE, GET, PATCH');
    expect((await api.request('OPTIONS', '/api/threads')).status).toBe(405);
  });

  it('with an id that is none is refused, naming it', async () => {
    const answer = await api.request('GET', '/api/threads/has%20space');
    expect(answer).toMatchObject({
      status: 422,
      body: { detail: [{ type: 'string_pattern_mismatch', loc: ['path', 'thread_id'], input: 'has space' }] },
    });
    expect((await api.request('POST', '/api/threads/has%20space/runs/stream', {})).status).toBe(422);
    expect((await api.request('GET', '/api/threads/%E0%A4%A')).status).toBe(400);
  });
});

describe('who asks', () => {
  it('must be known', async () => {
    const answer = await api.request('GET', '/api/threads/x', undefined, { 'x-test-owner': 'nobody' });
    expect(answer).toMatchObject({ status: 401, body: { detail: { code: 'not_authenticated' } } });
    expect((await api.request('GET', '/health', undefined, { 'x-test-owner': 'nobody' })).status).toBe(200);
  });
});

describe('a web page of another site', () => {
  const post = (origin: string, headers: Record<string, string> = {}) =>
    rawStatus('/api/threads', 'POST', { origin, 'content-type': 'application/json', ...headers }, '{}');

  it('can change nothing', async () => {
    expect(await post('https://evil.example.com')).toBe(403);
    expect(await post('null')).toBe(403);
    expect(await post('http://localhost.evil.example.com')).toBe(403);
  });

  it('is told from our own pages, those on this machine and those that are listed', async () => {
    expect(await post('http://localhost:3000')).toBe(200);
    expect(await post('http://127.0.0.1:2026')).toBe(200);
    expect(await post('https://ui.example.com')).toBe(200);
    expect(await post('https://ui.example.com', { host: 'ui.example.com' })).toBe(200);
  });

  it('gets the headers that let it read only if it is listed', async () => {
    const read = async (origin: string) => (await fetch(`${api.url}/health`, { headers: { origin } })).headers;
    const listed = await read('https://ui.example.com');
    expect(listed.get('access-control-allow-origin')).toBe('https://ui.example.com');
    expect(listed.get('access-control-expose-headers')).toBe('Content-Location, Location');
    expect((await read('https://evil.example.com')).get('access-control-allow-origin')).toBeNull();
    const preflight = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' };
    expect(await rawStatus('/api/threads', 'OPTIONS', { origin: 'https://ui.example.com', ...preflight })).toBe(204);
    expect(await rawStatus('/api/threads', 'OPTIONS', { origin: 'https://evil.example.com', ...preflight })).toBe(405);
  });
});

describe('a host name', () => {
  const status = (host: string, headers: Record<string, string> = {}) =>
    rawStatus('/api/threads', 'POST', { host, 'content-type': 'application/json', ...headers }, '{}');

  it('that a page of the web had resolved to this machine gets nothing, be it to read or to change', async () => {
    expect(await status('evil.example.com:8001')).toBe(403);
    expect(await status('evil.example.com', { origin: 'http://evil.example.com' })).toBe(403);
    for (const host of [
      'evil.example.com',
      'localhost.evil.example.com',
      '127.0.0.1.evil.example.com',
      '0.0.0.0',
      'a b',
    ]) {
      expect([host, await rawStatus('/api/models', 'GET', { host })]).toEqual([host, 403]);
    }
  });

  it('of this machine, or of a listed proxy on it, is served', async () => {
    for (const host of [
      'localhost:8001',
      '127.0.0.1',
      '[::1]:8001',
      'app.localhost',
      'ui.example.com',
      'UI.example.com',
    ]) {
      expect([host, await status(host)]).toEqual([host, 200]);
    }
  });
});

describe('health', () => {
  it('is alive and ready', async () => {
    expect((await api.request('GET', '/health')).body).toEqual({ status: 'healthy', service: 'deer-flow-gateway' });
    const ready = await api.request('GET', '/health/ready');
    expect(ready.status).toBe(200);
    expect(ready.body).toEqual({
      status: 'ready',
      service: 'deer-flow-gateway',
      database: 'ok',
      checkpointer: 'ok',
      stream_bridge: 'ok',
      temporal: 'ok',
      config: 'ok',
      provisioner: 'not_configured',
    });
  });

  it('is alive but not ready while the database is away, and says so within three seconds', async () => {
    const away = createDatabase({
      url: 'postgresql://nobody@127.0.0.1:9/none',
      schema: 'none',
      maxConnections: 1,
      applicationName: 'deerflow test',
    });
    const original = { ...api.stores };
    Object.assign(api.stores, createStores(away, Buffer.alloc(32)));
    const second = await api.another();
    try {
      const begun = Date.now();
      const ready = await fetch(`${second.url}/health/ready`);
      expect(ready.status).toBe(503);
      expect(await ready.json()).toMatchObject({
        status: 'degraded',
        database: 'unreachable',
        stream_bridge: 'unreachable',
        temporal: 'ok',
      });
      expect(Date.now() - begun).toBeLessThan(3_000);
      expect((await fetch(`${second.url}/health`)).status).toBe(200);
      const read = await fetch(`${second.url}/api/threads/x`);
      expect([read.status, await read.json()]).toEqual([503, { detail: 'The database is not available.' }]);
    } finally {
      Object.assign(api.stores, original);
      await second.close();
      await away.close();
    }
  });
});
