import type { JsonObject, RunRecord } from '../../../contracts';
import type { Step } from '../../support/fake-model';
import {
  body,
  call,
  cut,
  cutJson,
  emptyChoices,
  errorInStream,
  fail,
  hang,
  raw,
  say,
  stall,
} from '../../support/fake-model';
import type { Frame } from '../../support/product';
import { expectSoundRun } from '../../support/product/invariants';
import { lastText, lastValues, runIdOf, texts, useProduct } from './scenario';

const used = useProduct({ config: { runs: { model_stall_timeout_seconds: 1 } } });
const { api, script, run, start, stream, get } = used;

/** Attempts in all, as the default configuration says. */
const ATTEMPTS = 3;
const HALF = `data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta: { content: 'half an ans' } }] })}\n\n`;
const ALL = { stream_mode: ['values', 'messages-tuple', 'custom'] };

function retries(frames: readonly Frame[]): JsonObject[] {
  return frames
    .filter(({ event }) => event === 'custom')
    .map(({ data }) => data as JsonObject)
    .filter((notice) => notice['type'] === 'llm_retry');
}

async function record(threadId: string, frames: readonly Frame[]): Promise<RunRecord> {
  const runId = runIdOf(frames);
  await expectSoundRun(used.product.pool, runId);
  return get<RunRecord>(`/api/threads/${threadId}/runs/${runId}`);
}

describe('a provider that fails for a moment', () => {
  const passing: Array<[string, Step[], string]> = [
    ['is overloaded', [fail(503, { times: 1 })], 'transient'],
    [
      'answers with a page of its proxy',
      [fail(502, { times: 1, body: '<html><title>Bad gateway</title></html>' })],
      'transient',
    ],
    ['breaks the connection in the middle of the answer', [cut(3)], 'transient'],
    ['breaks off in the middle of its JSON', [cutJson()], 'transient'],
    ['falls silent in the middle of the answer', [stall(2)], 'transient'],
    ['sends no choices', [emptyChoices()], 'transient'],
    ['sends an empty answer', [raw({ content: '' })], 'transient'],
    ['sends nothing but white space', [raw({ content: '  \n ' })], 'transient'],
    ['sends an error inside of the stream', [errorInStream()], 'transient'],
    [
      'answers 200 with an error inside',
      [body('{"error":{"message":"server overloaded","type":"server_error"}}')],
      'transient',
    ],
    [
      'ends the stream with neither a reason nor an end mark',
      [body(HALF, { contentType: 'text/event-stream' })],
      'transient',
    ],
  ];

  test.each(passing)(
    'and %s is asked again, and nobody sees a half answer as the answer',
    async (_what, steps, reason) => {
      script(...steps, say('the real answer'));
      const threadId = await api.newThread();
      const { frames } = await stream(threadId, 'go', ALL);
      expect(lastText(lastValues(frames))).toBe('the real answer');
      expect(await record(threadId, frames)).toMatchObject({ status: 'success', error: null, llm_call_count: 1 });
      expect(retries(frames)).toEqual([expect.objectContaining({ attempt: 1, reason })]);
      expect(texts(await api.values(threadId))).toEqual(['go', 'the real answer']);
      expect(used.model.requests).toHaveLength(2);
      used.model.assertClean();
    },
  );

  test('and says when to come back is asked again at that time, not before', async () => {
    script(fail(429, { retryAfter: 1, times: 1 }), say('the real answer'));
    const threadId = await api.newThread();
    const { frames } = await stream(threadId, 'go', ALL);
    expect(lastText(lastValues(frames))).toBe('the real answer');
    const [first, second] = used.model.requests;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(1_000);
    expect(retries(frames)).toEqual([expect.objectContaining({ wait_ms: 1_000, reason: 'busy' })]);
    used.model.assertClean();
  });

  test('is not asked again once the user has stopped the run', async () => {
    script(fail(429, { retryAfter: 30 }));
    const threadId = await api.newThread();
    const { run_id: runId } = await start(threadId, 'go');
    await used.model.waitForRequests(1);
    expect((await api.request('POST', `/api/threads/${threadId}/runs/${runId}/cancel?wait=true`)).status).toBe(204);
    expect(await expectSoundRun(used.product.pool, runId)).toMatchObject({ status: 'interrupted' });
    expect(used.model.requests).toHaveLength(1);
  });
});

describe('a provider that fails for good', () => {
  const lasting: Array<[string, Step[], string, number]> = [
    ['is never available', [fail(503)], 'model_unavailable', ATTEMPTS],
    ['limits the rate for longer than anybody waits', [fail(429, { retryAfter: 3_600 })], 'model_rate_limited', 1],
    ['always limits the rate', [fail(429, { retryAfterMs: 10 })], 'model_rate_limited', ATTEMPTS],
    ['knows no such key', [fail(401)], 'model_auth', 1],
    ['wants money', [fail(429, { code: 'insufficient_quota' })], 'model_quota', 1],
    ['refuses the request', [fail(400, { message: 'context too long' })], 'model_rejected', 1],
    ['always breaks off', [cut(2), cut(2), cut(2)], 'model_unavailable', ATTEMPTS],
    ['always falls silent', [stall(1), stall(1)], 'model_unavailable', 2],
    ['never says anything', [hang(60_000), hang(60_000)], 'model_unavailable', 2],
    ['always sends nothing', [emptyChoices(), raw({}), emptyChoices()], 'model_empty_reply', ATTEMPTS],
    [
      'always sends an error in the stream',
      [errorInStream(), errorInStream(), errorInStream()],
      'model_unavailable',
      ATTEMPTS,
    ],
  ];

  test.each(lasting)(
    '(%s) makes the run an error that says why, and never an answer',
    async (_what, steps, code, calls) => {
      script(...steps);
      const threadId = await api.newThread();
      const { frames } = await stream(threadId, 'go', ALL);
      expect(frames.at(-1)?.event).toBe('end');
      const ended = await record(threadId, frames);
      expect(ended).toMatchObject({
        status: 'error',
        error: { code, message: expect.stringMatching(/.{10,}/) },
        llm_call_count: 0,
      });
      expect(used.model.requests).toHaveLength(calls);
      const last = (await api.values(threadId)).messages.at(-1);
      expect(last).toMatchObject({
        type: 'ai',
        additional_kwargs: { deerflow_error_fallback: true, error_type: code },
      });
      expect(await get(`/api/threads/${threadId}`)).toMatchObject({ status: 'error' });

      script(say('all is well again'));
      expect((await run(threadId, 'and now?')).status).toBe('success');
      expect(lastText(await api.values(threadId))).toBe('all is well again');
      const told = JSON.stringify(used.model.requests.at(-1)?.body.messages);
      expect(told).not.toContain('could not answer');
      used.model.assertClean();
    },
  );
});

describe('an answer that is malformed', () => {
  const workspace = '/mnt/user-data/workspace';
  const bad: Array<[string, Step, string | RegExp]> = [
    ['has a call without an id', raw({ toolCalls: [{ name: 'ls', arguments: `{"path":"${workspace}"}` }] }), /./],
    ['has a call without a name', raw({ toolCalls: [{ id: 'c1', arguments: '{}' }] }), 'is not a valid tool'],
    [
      'has arguments that are no JSON',
      raw({ toolCalls: [{ id: 'c1', name: 'ls', arguments: '{"path": ' }] }),
      'not valid JSON',
    ],
    [
      'has arguments that are no object',
      raw({ toolCalls: [{ id: 'c1', name: 'ls', arguments: '[1]' }] }),
      'not a JSON object',
    ],
    ['calls a tool that does not exist', call('launch_rocket', { to: 'moon' }, 'c1'), 'is not a valid tool'],
    ['leaves out what a tool needs', call('read_file', {}, 'c1'), 'path'],
    ['sends another type than a tool needs', call('read_file', { path: { a: 1 } }, 'c1'), 'path'],
    [
      'sends a reason and a call that do not fit',
      raw({ toolCalls: [{ id: 'c1', name: 'ls', arguments: `{"path":"${workspace}"}` }], finish: 'stop' }),
      /./,
    ],
  ];

  test.each(bad)('(it %s) is answered in words that the model can use', async (_what, step, words) => {
    script(step, say('understood'));
    const threadId = await api.newThread();
    expect(await run(threadId, 'go')).toMatchObject({ status: 'success', llm_call_count: 2 });
    const results = (await api.values(threadId)).messages.filter(({ type }) => type === 'tool');
    expect(results).toHaveLength(1);
    expect(results[0]?.content).toMatch(words);
    expect(lastText(await api.values(threadId))).toBe('understood');
    used.model.assertClean();
  });

  test('in that two calls share an id has both run, each with a result of its own', async () => {
    const touch = (name: string) => ({
      id: 'same',
      name: 'bash',
      arguments: JSON.stringify({ command: `echo ${name}` }),
    });
    script(raw({ toolCalls: [touch('first'), touch('second')] }), say('both'));
    const threadId = await api.newThread();
    expect((await run(threadId, 'go')).status).toBe('success');
    const results = (await api.values(threadId)).messages.filter(({ type }) => type === 'tool');
    expect(results.map(({ content }) => content)).toEqual([
      expect.stringContaining('first'),
      expect.stringContaining('second'),
    ]);
    expect(new Set(results.map((result) => result['tool_call_id'])).size).toBe(2);
    used.model.assertClean();
  });

  test('in that a later answer uses an id again is taken for a call of its own', async () => {
    script(
      call('bash', { command: 'echo one' }, 'call_0'),
      call('bash', { command: 'echo two' }, 'call_0'),
      say('both'),
    );
    const threadId = await api.newThread();
    expect((await run(threadId, 'go')).status).toBe('success');
    const results = (await api.values(threadId)).messages.filter(({ type }) => type === 'tool');
    expect(results.map(({ content }) => content)).toEqual([
      expect.stringContaining('one'),
      expect.stringContaining('two'),
    ]);
    used.model.assertClean();
  });

  test('in that it was cut off for its length is kept, and the run says so', async () => {
    script(raw({ content: 'a long story that', finish: 'length' }));
    const threadId = await api.newThread();
    expect(await run(threadId, 'go')).toMatchObject({ status: 'success', stop_reason: 'model_length_capped' });
    expect(lastText(await api.values(threadId))).toBe('a long story that');
  });

  test('in that its provider’s filter stopped it runs no tool, and says in words what happened', async () => {
    script(
      raw({
        toolCalls: [{ id: 'c1', name: 'bash', arguments: '{"command":"echo run > /mnt/user-data/workspace/x"}' }],
        finish: 'content_filter',
      }),
      say('ok'),
    );
    const threadId = await api.newThread();
    const { frames } = await stream(threadId, 'go', ALL);
    expect(await record(threadId, frames)).toMatchObject({ status: 'success', stop_reason: 'safety_capped' });
    expect(
      frames.find(({ event, data }) => event === 'custom' && (data as JsonObject)['type'] === 'safety_termination')
        ?.data,
    ).toMatchObject({
      suppressed_tool_call_count: 1,
      suppressed_tool_call_names: ['bash'],
    });
    expect(lastText(lastValues(frames))).toMatch(/content rules/);
    expect((await run(threadId, 'again')).status).toBe('success');
    used.model.assertClean();
  });
});
