import type { JsonObject, RunRecord } from '../../../contracts';
import { body, call, hang, say } from '../../support/fake-model';
import type { Frame } from '../../support/product';
import { ask, createApiClient } from '../../support/product';
import { expectIncreasing, expectSoundRun } from '../../support/product/invariants';
import { chunks, lastText, lastValues, runIdOf, until, useProduct } from './scenario';

const used = useProduct({ apis: 2 });
const { api, script, run, start, stream, get } = used;

const TOKENS = { stream_mode: ['values', 'messages-tuple'] };
const IDLE_MS = 22_000;
const LONGEST_SILENCE_MS = 15_000;

/** A model that is silent for long, beside the other tests of the file. */
let idle: ReturnType<typeof stream>;
beforeAll(async () => {
  used.model.script('scripted-two', [hang(IDLE_MS, say('at last'))]);
  const threadId = await api.newThread();
  idle = stream(threadId, 'take your time', { context: { model_name: 'scripted-two' } });
  // The test that waits for it tells what went wrong.
  idle.catch(() => undefined);
});

function path(threadId: string, runId: string): string {
  return `/api/threads/${threadId}/runs/${runId}/stream`;
}

describe('the stream of a run', () => {
  test('begins with both ids, ends with end, and names the run in Content-Location', async () => {
    script(say('hello there'));
    const threadId = await api.newThread();
    const { frames, headers } = await stream(threadId, 'hi', TOKENS);
    const runId = runIdOf(frames);
    expect(frames[0]).toMatchObject({ event: 'metadata', data: { run_id: runId, thread_id: threadId } });
    expect(frames.at(-1)).toEqual({ event: 'end', data: null, id: null });
    expect(new Set(frames.slice(1, -1).map(({ event }) => event))).toEqual(new Set(['values', 'messages']));
    expect(headers.get('content-location')).toBe(`/api/threads/${threadId}/runs/${runId}`);
    expect(headers.get('content-type')).toContain('text/event-stream');
    expectIncreasing(frames);
    expect(frames.slice(0, -1).every(({ id }) => /^\d+-\d+$/.test(id ?? ''))).toBe(true);
  });

  test('adds up, part by part, to the stored answer, also where a part ends in the middle of an emoji', async () => {
    const answer = 'Fine 👩‍👩‍👧 — 東京 🎉🎉.';
    script(say(answer, { chunks: answer.length, reasoning: 'let me think 🤔' }));
    const { frames } = await stream(await api.newThread(), 'hi', TOKENS);
    const final = lastValues(frames).messages.at(-1);
    const parts = chunks(frames).filter(({ id, type }) => id === final?.id && type === 'AIMessageChunk');
    expect(parts.length).toBeGreaterThan(2);
    expect(parts.map(({ content }) => content).join('')).toBe(answer);
    expect(final?.content).toBe(answer);
    const thought = parts.map((part) => part.additional_kwargs['reasoning_content'] ?? '').join('');
    expect(thought).toBe('let me think 🤔');
    expect(final?.['additional_kwargs']).toMatchObject({ reasoning_content: 'let me think 🤔' });
    expect(
      frames.filter(({ event }) => event === 'messages').every(({ data }) => (data as unknown[]).length === 2),
    ).toBe(true);
  });

  test('survives thoughts, names and arguments that a provider splits in the middle of a character', async () => {
    const parts: JsonObject[] = [
      { role: 'assistant', content: '' },
      { reasoning_content: 'thinking \ud83e' },
      { reasoning_content: '\udd14 done' },
      {
        tool_calls: [
          { index: 0, id: 'c\u00001', type: 'function', function: { name: 'ls', arguments: '{"path":"/mnt/\ud83c' } },
        ],
      },
      { tool_calls: [{ index: 0, function: { arguments: '\udf89"}' } }] },
    ];
    const events = parts.map((delta) => ({ id: 'x', choices: [{ index: 0, delta, finish_reason: null }] }));
    const end = { id: 'x', choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] };
    const text = [...events, end].map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
    script(body(`${text}data: [DONE]\n\n`, { contentType: 'text/event-stream' }), say('ok'));
    const threadId = await api.newThread();
    const { frames } = await stream(threadId, 'hi', TOKENS);
    expect(frames.at(-1)?.event).toBe('end');
    expect(await expectSoundRun(used.product.pool, runIdOf(frames))).toMatchObject({ status: 'success' });
    const reply = lastValues(frames).messages[1];
    expect(reply).toMatchObject({ additional_kwargs: { reasoning_content: 'thinking 🤔 done' } });
    expect(reply?.['tool_calls']).toMatchObject([{ name: 'ls', args: { path: '/mnt/🎉' } }]);
    used.model.assertClean();
  });

  test('is complete for who dropped the connection and comes back with the last id', async () => {
    script(say('one two three four five six seven eight', { delayMs: 60 }));
    const threadId = await api.newThread();
    const dropped = await api.stream({
      path: `/api/threads/${threadId}/runs/stream`,
      body: ask('count', { ...TOKENS, on_disconnect: 'continue' }),
      until: (_frame, frames) => frames.length === 5,
    });
    const runId = runIdOf(dropped.frames);
    const rest = await api.stream({ path: path(threadId, runId), lastEventId: dropped.frames.at(-1)?.id ?? '' });
    const whole = await api.stream({ path: path(threadId, runId) });
    expect([...dropped.frames, ...rest.frames]).toEqual(whole.frames);
    expect(whole.frames.at(-1)?.event).toBe('end');
    expect(lastText(lastValues(whole.frames))).toBe('one two three four five six seven eight');
  });

  test('is the same for every reader, on whichever process', async () => {
    script(call('ls', { path: '/mnt/user-data/workspace' }), say('done and done', { delayMs: 30 }));
    const threadId = await api.newThread();
    const { run_id: runId } = await start(threadId, 'look', { stream_mode: ['values', 'messages-tuple', 'updates'] });
    const clients = used.product.apis.map(({ url }) => createApiClient(() => url));
    const readings = await Promise.all(clients.map((client) => client.stream({ path: path(threadId, runId) })));
    expect(readings[1]?.frames).toEqual(readings[0]?.frames);
    expect(readings[0]?.frames.at(-1)?.event).toBe('end');
  });

  test('of a run that ended long ago is a single end', async () => {
    script(say('ok'));
    const threadId = await api.newThread();
    const { run_id: runId } = await run(threadId, 'hi');
    // The same as the retention does once it is over.
    await used.product.pool.query('delete from run_events where run_id = $1', [runId]);
    const { frames, status } = await api.stream({ path: path(threadId, runId) });
    expect({ frames, status }).toEqual({ frames: [{ event: 'end', data: null, id: null }], status: 200 });
  });
});

describe('a reader that goes away', () => {
  async function leave(threadId: string, extra: JsonObject): Promise<string> {
    const { frames } = await api.stream({
      path: `/api/threads/${threadId}/runs/stream`,
      body: ask('go', { ...TOKENS, ...extra }),
      until: () => used.model.requests.length > 0,
    });
    return runIdOf(frames);
  }
  const slow = say('never mind who is listening '.repeat(4), { delayMs: 50 });

  test('leaves the run alone that it started', async () => {
    script(slow);
    const threadId = await api.newThread();
    const runId = await leave(threadId, {});
    expect((await api.ended(threadId, runId)).status).toBe('success');
  });

  test('takes the run along if it asked for that, and the model is hung up on', async () => {
    script(slow);
    const threadId = await api.newThread();
    const runId = await leave(threadId, { on_disconnect: 'cancel' });
    expect((await api.ended(threadId, runId)).status).toBe('interrupted');
    await until(() => used.model.requests[0]?.abandoned === true, 'the model call to be given up');
    await expectSoundRun(used.product.pool, runId);
  });

  test.each(['cancel', 'continue'])('never harms a run that somebody else started (%s)', async (mode) => {
    script(slow);
    const threadId = await api.newThread();
    const owner = stream(threadId, 'go', { ...TOKENS, on_disconnect: mode });
    await used.model.waitForRequests(1);
    const runId = (await get<RunRecord[]>(`/api/threads/${threadId}/runs`))[0]?.run_id ?? '';
    await api.stream({ path: path(threadId, runId), until: () => true });
    expect((await owner).frames.at(-1)?.event).toBe('end');
    expect((await api.ended(threadId, runId)).status).toBe('success');
  });
});

describe('a silent model', () => {
  test('leaves the reader with a sign of life at least every fifteen seconds', async () => {
    const { frames, comments } = await idle;
    expect(comments.length).toBeGreaterThanOrEqual(2);
    const gaps = comments.slice(1).map((at, index) => at - (comments[index] ?? 0));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(LONGEST_SILENCE_MS);
    expect(lastText(lastValues(frames))).toBe('at last');
  }, 40_000);
});

describe('the API and the worker are both killed in the middle of a run', () => {
  test('a reader gets everything that follows its last id from another process, and the run succeeds', async () => {
    script(say('cut off '.repeat(40), { delayMs: 50 }), say('the whole answer'));
    const threadId = await api.newThread();
    const reading: Frame[] = [];
    const [first] = used.product.apis;
    const [worker] = used.product.workers;
    const broken = createApiClient(() => first?.url ?? '').stream({
      path: `/api/threads/${threadId}/runs/stream`,
      body: ask('go', TOKENS),
      until: (frame) => reading.push(frame) === Number.MAX_SAFE_INTEGER,
    });
    await until(() => reading.length > 6, 'a part of the answer');
    await Promise.all([first?.kill(), worker?.kill()]);
    await broken;
    await used.product.startWorker();

    const runId = runIdOf(reading);
    const rest = await api.stream({ path: path(threadId, runId), lastEventId: reading.at(-1)?.id ?? '' });
    const whole = await api.stream({ path: path(threadId, runId) });
    expect([...reading, ...rest.frames]).toEqual(whole.frames);
    expect(rest.frames.at(-1)?.event).toBe('end');
    expectIncreasing(whole.frames);
    expect(lastText(lastValues(whole.frames))).toBe('the whole answer');
    expect(await expectSoundRun(used.product.pool, runId)).toMatchObject({ status: 'success', llm_call_count: 1 });
  });
});
