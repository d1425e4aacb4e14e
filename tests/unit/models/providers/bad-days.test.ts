import { failureDetail } from '../../../../models';
import { PROVIDERS } from '../../../support/providers/providers';
import type { ScriptedServer } from '../../../support/providers/scripted-server';
import { startScriptedServer } from '../../../support/providers/scripted-server';
import type { Bench } from './support';
import { createBench, failure, human, KEY } from './support';

const CALL = { id: 'c1', name: 'ls', args: { path: '/a/long/way/down' } };

describe.each(PROVIDERS)('on a bad day, a model of $use$variant', (provider) => {
  const { wire, tellsLateErrors, idleIs } = provider;
  let server: ScriptedServer;
  let bench: Bench;

  beforeAll(async () => {
    server = await startScriptedServer(wire);
    bench = createBench(provider, server);
  });
  afterAll(() => server.close());
  beforeEach(() => void (server.requests.length = 0));

  it.each([
    [401, 'authentication_error', 'invalid x-api-key', 'model_auth', 'auth'],
    [429, 'rate_limit_error', 'rate limit reached', 'model_rate_limited', 'transient'],
    [529, 'overloaded_error', 'Overloaded', 'model_unavailable', 'transient'],
    [500, 'api_error', 'internal server error', 'model_unavailable', 'transient'],
    [
      400,
      'invalid_request_error',
      'prompt is too long: 200001 tokens > 200000 maximum',
      'model_context_length',
      'context_length',
    ],
    [400, 'invalid_request_error', 'unknown field', 'model_rejected', 'rejected'],
  ])(
    'says what kind of failure %d %s is, asks once, and gives no key away',
    async (status, type, message, code, reason) => {
      server.script(wire.error(status, type, `${message} (${KEY})`));
      const error = await failure(bench.ask([human('hi')]));
      expect([error.code, failureDetail(error)?.reason]).toEqual([code, reason]);
      expect(server.requests).toHaveLength(1);
    },
  );

  it.each([
    ['authentication_error', 'authentication failed', 'model_auth'],
    ['rate_limit_error', 'rate limit reached', 'model_rate_limited'],
    ['insufficient_quota', 'the quota is used up', 'model_quota'],
  ])('that answers 200 with the document of an error, %s, has failed of that', async (type, message, code) => {
    server.script({ ...wire.error(200, type, `${message} (${KEY})`), status: 200 });
    const error = await failure(bench.ask([human('hi')]));
    expect(error.code).toBe(tellsLateErrors ? code : 'model_unavailable');
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    ['rate_limit_error', 'rate limit reached', 'model_rate_limited'],
    ['insufficient_quota', 'the quota is used up', 'model_quota'],
  ])('that breaks down in the middle of a reply, %s, has failed of what it says then', async (type, message, code) => {
    server.script(wire.breakdown('I was about', type, `${message} (${KEY})`));
    const error = await failure(bench.ask([human('hi')]));
    expect(error.code).toBe(tellsLateErrors ? code : 'model_unavailable');
  });

  it('that falls silent is given up', async () => {
    server.script({ ...wire.reply({ text: 'I was about', finish: null }), hang: true });
    expect(failureDetail(await failure(bench.ask([human('hi')])))?.reason).toBe('stalled');
  });

  it('that gives signs of life and no content is given up, too', async () => {
    server.script(wire.idle());
    const error = await failure(bench.ask([human('hi')], { stallMs: 150 }));
    expect(failureDetail(error)?.reason).toBe(idleIs);
  });

  it('that closes before it was done has given no reply', async () => {
    server.script(wire.reply({ text: 'I was about', finish: null }));
    expect((await failure(bench.ask([human('hi')]))).code).toBe('model_unavailable');
    server.script({ ...wire.reply({ text: 'I was about', finish: null }), cut: true });
    expect((await failure(bench.ask([human('hi')]))).code).toBe('model_unavailable');
  });

  it.each([false, true])('that closes after or within a call has called nothing (within: %s)', async (half) => {
    server.script(wire.reply({ text: 'Looking.', calls: [CALL], pieces: 10, half, finish: null }));
    expect((await failure(bench.ask([human('look')]))).code).toBe('model_unavailable');
  });

  it('that says nothing has given no reply', async () => {
    server.script(wire.reply({ text: '' }));
    expect((await failure(bench.ask([human('hi')]))).code).toBe('model_empty_reply');
  });

  it('is stopped by its user at once', async () => {
    const abort = new AbortController();
    const onSent = () => abort.abort(new Error('stopped by its user'));
    server.script({ ...wire.reply({ text: 'one two', finish: null }), hang: true, onSent });
    const stopped = bench.ask([human('hi')], { stallMs: 5_000, request: { signal: abort.signal } });
    await expect(stopped).rejects.toThrow('stopped by its user');
  });
});
