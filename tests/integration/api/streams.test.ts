import { randomUUID } from 'node:crypto';
import type { ApiHarness } from '../../support/api-harness';
import { startApiHarness } from '../../support/api-harness';
import type { RunScript } from '../../support/run-script';
import { scriptRun } from '../../support/run-script';
import type { Frame, SseConnection } from '../../support/sse-reader';
import { openSse } from '../../support/sse-reader';

const ALL_MODES = ['values', 'messages-tuple', 'updates', 'custom', 'tasks', 'checkpoints', 'debug'];

let api: ApiHarness;
beforeAll(async () => {
  api = await startApiHarness({ settings: { heartbeatMs: 150 } });
});
afterAll(() => api.close());

interface Started {
  stream: SseConnection;
  script: RunScript;
  threadId: string;
  runId: string;
}

/** Starts a run with a stream, as the web UI does: a thread first, then the run. */
async function startStream(body: Record<string, unknown> = {}): Promise<Started> {
  const threadId = randomUUID();
  await api.request('POST', '/api/threads', { thread_id: threadId });
  const stream = await openSse(`${api.url}/api/langgraph/threads/${threadId}/runs/stream`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ input: { messages: [{ role: 'user', content: 'hello' }] }, ...body }),
  });
  const runId = /\/runs\/(.+)$/.exec(stream.response.headers.get('content-location') ?? '')?.[1] ?? '';
  return { stream, threadId, runId, script: await scriptRun(api.stores, runId) };
}

const names = (frames: Frame[]): string[] => frames.map((frame) => frame.event);
const ids = (frames: Frame[]): string[] => frames.flatMap(({ id }) => (id === undefined ? [] : [id]));
const ended = (frames: Frame[]): boolean => frames.at(-1)?.event === 'end';

describe('the stream of a new run', () => {
  it('begins with the ids of the run, ends with end, and every frame between has a rising id', async () => {
    const { stream, script, threadId, runId } = await startStream();
    await script.begin();
    await script.reply('Hi there.');
    await script.finish();
    const frames = await stream.ended();

    expect(names(frames)).toEqual(['metadata', 'values', 'values', 'values', 'end']);
    expect(frames[0]?.data).toEqual({ run_id: runId, thread_id: threadId });
    expect(frames.at(-1)).toEqual({ event: 'end', data: null, id: undefined });
    const places = ids(frames).map((id) => id.split('-').map(Number));
    expect(places.map(([, number]) => number)).toEqual([0, 1, 2, 3]);
    expect(places.map(([at]) => at)).toEqual(places.map(([at]) => at).toSorted((a, b) => Number(a) - Number(b)));
  });

  it('tells clients where the run is and where to resume it', async () => {
    const { stream, script, threadId, runId } = await startStream();
    await script.finish();
    await stream.ended();
    const { headers } = stream.response;
    expect(headers.get('content-location')).toBe(`/api/threads/${threadId}/runs/${runId}`);
    expect(headers.get('location')).toBe(`/threads/${threadId}/runs/${runId}/stream`);
    expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(headers.get('cache-control')).toBe('no-cache');
    expect(headers.get('x-accel-buffering')).toBe('no');
  });

  it('sends a reply in parts that add up to the message in the state', async () => {
    const { stream, script } = await startStream({ stream_mode: ['messages-tuple', 'values'] });
    await script.begin('Count.');
    await script.stream('reply-1', 'one ', 'two ', 'three');
    await script.reply('one two three', { id: 'reply-1' });
    await script.finish();
    const frames = await stream.ended();

    const parts = frames.filter(({ event }) => event === 'messages').map(({ data }) => data as [Chunk, Chunk]);
    const [human, ...chunks] = parts;
    expect(human?.[0]).toMatchObject({ type: 'human', content: 'Count.' });
    expect(chunks.map(([chunk]) => chunk.content).join('')).toBe('one two three');
    expect(chunks[0]?.[0]).toEqual({
      content: 'one ',
      additional_kwargs: {},
      response_metadata: {},
      type: 'AIMessageChunk',
      name: null,
      id: 'reply-1',
      tool_calls: [],
      invalid_tool_calls: [],
      usage_metadata: null,
      tool_call_chunks: [],
      chunk_position: null,
    });
    expect(chunks[0]?.[1]).toMatchObject({ langgraph_node: 'model', langgraph_step: 0, model_name: 'demo' });
    const last = frames.filter(({ event }) => event === 'values').at(-1)?.data as { messages: Chunk[] };
    expect(last.messages.at(-1)).toMatchObject({ id: 'reply-1', content: 'one two three', type: 'ai' });
  });

  it('gives every mode the frames that LangGraph gives it', async () => {
    const { stream, script, threadId } = await startStream({ stream_mode: ALL_MODES });
    await script.begin();
    await script.emit(
      { kind: 'task', payload: { id: '1:model', name: 'model', step: 1, triggers: ['branch:to:model'] } },
      {
        kind: 'debug',
        payload: { type: 'task', id: '1:model', name: 'model', step: 1, triggers: ['branch:to:model'] },
      },
      { kind: 'custom', payload: { type: 'llm_retry', attempt: 1 } },
    );
    const id = await script.reply('done');
    await script.emit({
      kind: 'task',
      payload: { id: '1:model', name: 'model', step: 1, error: null, interrupts: [] },
    });
    await script.finish();
    const frames = await stream.ended();
    const of = (event: string) => frames.filter((frame) => frame.event === event).map(({ data }) => data);

    expect(of('updates')).toMatchObject([{ model: { messages: [{ id, type: 'ai', content: 'done' }] } }]);
    expect(of('custom')).toEqual([{ type: 'llm_retry', attempt: 1 }]);
    expect(of('tasks')).toEqual([
      { id: '1:model', name: 'model', input: null, triggers: ['branch:to:model'], metadata: {} },
      { id: '1:model', name: 'model', error: null, interrupts: [], result: {} },
    ]);
    expect(of('debug')).toMatchObject([{ step: 1, type: 'task', payload: { name: 'model' } }]);
    const [checkpoint] = of('checkpoints') as Array<{ config: { configurable: Record<string, string> } }>;
    expect(checkpoint).toMatchObject({ values: { messages: [{}, { id }] }, next: [], metadata: { step: 1 } });
    expect(checkpoint?.config.configurable).toMatchObject({ thread_id: threadId, checkpoint_ns: '' });
  });

  it('shows a failure outside the model as an error before the end', async () => {
    const { stream, script } = await startStream();
    await script.finish('error', { name: 'GraphRecursionError', message: 'Too many steps.', code: 'recursion_limit' });
    const frames = await stream.ended();
    expect(frames.slice(-2).map(({ event, data }) => [event, data])).toEqual([
      ['error', { name: 'GraphRecursionError', message: 'Too many steps.' }],
      ['end', null],
    ]);
  });

  it('shows an interrupt in the values of the step that stopped', async () => {
    const { stream, script } = await startStream({ interrupt_before: ['tools'] });
    await script.begin();
    await script.stopBefore('tools');
    const frames = await stream.ended();
    expect(frames.at(-2)?.data).toMatchObject({
      __interrupt__: [{ id: 'stop-tools', value: { type: 'breakpoint', node: 'tools' } }],
    });
  });

  it('carries a burst of a thousand frames without a gap', async () => {
    const { stream, script } = await startStream({ stream_mode: ['messages-tuple'] });
    for (let batch = 0; batch < 10; batch += 1) {
      const parts = Array.from({ length: 100 }, (_, place) => ({
        kind: 'text-delta' as const,
        payload: { id: 'long', step: 1, content: `${batch * 100 + place} `, tool_call_chunks: [] },
      }));
      await script.emit(...parts);
    }
    await script.finish();
    const frames = await stream.ended();
    const text = frames.filter(({ event }) => event === 'messages').map(({ data }) => (data as [Chunk])[0].content);
    expect(text).toEqual(Array.from({ length: 1000 }, (_, place) => `${place} `));
  });

  it('shows signs of life at a steady pace, whether or not there is data', async () => {
    const { stream, script } = await startStream();
    await script.begin();
    const deadline = Date.now() + 5_000;
    while (stream.comments.length < 4 && Date.now() < deadline) await new Promise((wake) => setTimeout(wake, 20));
    await script.finish();
    await stream.ended();
    expect(stream.comments.length).toBeGreaterThanOrEqual(4);
    expect(new Set(stream.comments.map(({ text }) => text))).toEqual(new Set([': heartbeat']));
  });
});

interface Chunk {
  id: string;
  type: string;
  content: string;
}

describe('a reader that joins or comes back', () => {
  it('gets everything from the start without a cursor, then what follows', async () => {
    const { stream, script, threadId, runId } = await startStream();
    await script.begin();
    await stream.until((frames) => frames.length === 2);
    const late = await openSse(`${api.url}/api/threads/${threadId}/runs/${runId}/stream?cancel_on_disconnect=0`, {
      headers: { 'last-event-id': '-1' },
    });
    await late.until((frames) => frames.length === 2);
    await script.reply('x');
    await script.finish();
    expect(await late.ended()).toEqual(await stream.ended());
  });

  it('gets the rest exactly once after its last id, also from another process', async () => {
    const { stream, script, threadId, runId } = await startStream({ on_disconnect: 'continue' });
    await script.begin();
    await stream.until((frames) => frames.length === 2);
    stream.close();
    await script.reply('while away');
    const other = await api.another();
    const back = await openSse(`${other.url}/api/threads/${threadId}/runs/${runId}/stream`, {
      headers: { 'last-event-id': stream.frames[1]?.id ?? '' },
    });
    await back.until((frames) => frames.length === 1);
    await script.finish();
    const rest = await back.ended();
    await other.close();

    expect(names(rest)).toEqual(['values', 'values', 'end']);
    const numbers = [...ids(stream.frames), ...ids(rest)].map((id) => Number(id.split('-')[1]));
    expect(numbers).toEqual([0, 1, 2, 3]);
  });

  it.each([
    ['an id older than anything', '1-0', 4],
    ['an id that is none', 'nonsense', 4],
    ['an id from the future', '9999999999999-99999', 1],
  ])('gets what fits for %s', async (_what, lastEventId, expected) => {
    const { stream, script, threadId, runId } = await startStream();
    await script.begin();
    await script.finish();
    await stream.ended();
    const again = await openSse(`${api.url}/api/threads/${threadId}/runs/${runId}/stream`, {
      headers: { 'last-event-id': lastEventId },
    });
    const frames = await again.ended();
    expect(frames).toHaveLength(expected);
    expect(ended(frames)).toBe(true);
  });

  it.each([
    ['a JSON array', 'stream_mode=%5B%22updates%22%5D'],
    ['a repeated key', 'stream_mode=updates&stream_mode=custom'],
  ])('chooses its own modes with %s', async (_form, query) => {
    const { stream, script, threadId, runId } = await startStream({ stream_mode: ['values', 'updates'] });
    await script.begin();
    await script.reply('x');
    await script.finish();
    await stream.ended();
    const joined = await openSse(`${api.url}/api/threads/${threadId}/runs/${runId}/stream?${query}`);
    expect(names(await joined.ended())).toEqual(['metadata', 'updates', 'end']);
  });

  it('is told of modes that do not exist', async () => {
    const { stream, script, threadId, runId } = await startStream();
    await script.finish();
    await stream.ended();
    const answer = await api.request('GET', `/api/threads/${threadId}/runs/${runId}/stream?stream_mode=events`);
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ detail: [{ type: 'unsupported_stream_mode', ctx: { modes: 'events' } }] });
  });

  it('gets a lone end for a run whose log is long gone', async () => {
    const { stream, script, threadId, runId } = await startStream();
    await script.begin();
    await script.finish();
    await stream.ended();
    await api.database.database.pool.query('delete from run_events where run_id = $1', [runId]);
    const late = await openSse(`${api.url}/api/threads/${threadId}/runs/${runId}/join`);
    expect(late.response.status).toBe(200);
    expect(await late.ended()).toEqual([{ event: 'end', data: null, id: undefined }]);
  });

  it('is told of the gap, with ids that are never null, when it repeats a create whose log is gone', async () => {
    const threadId = randomUUID();
    await api.request('POST', '/api/threads', { thread_id: threadId });
    const create = () =>
      openSse(`${api.url}/api/threads/${threadId}/runs/stream`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': 'once' },
        body: JSON.stringify({ input: { messages: 'hi' } }),
      });
    const first = await create();
    const runId = (first.response.headers.get('content-location') ?? '').split('/').at(-1) ?? '';
    const script = await scriptRun(api.stores, runId);
    await script.finish();
    await first.ended();
    expect(await (await create()).ended()).toEqual(first.frames);

    await api.database.database.pool.query('delete from run_events where run_id = $1', [runId]);
    const gap = await (await create()).ended();
    expect(names(gap)).toEqual(['gap']);
    expect(gap[0]?.data).toEqual({
      code: 'stream_replay_gap',
      run_id: runId,
      requested_event_id: null,
      earliest_available_event_id: expect.stringMatching(/^\d+-0$/) as unknown,
      latest_available_event_id: expect.stringMatching(/^\d+-0$/) as unknown,
      recovery: 'reload_durable_state',
    });
  });

  it('may be slow: it loses nothing and holds nobody up', async () => {
    const { stream, script, threadId, runId } = await startStream({ stream_mode: ['messages-tuple'] });
    const slow = await fetch(`${api.url}/api/threads/${threadId}/runs/${runId}/stream`);
    const padding = 'x'.repeat(20_000);
    for (let place = 0; place < 400; place += 1) {
      await script.emit({ kind: 'text-delta', payload: { id: 'long', step: 1, content: `${place}:${padding}` } });
    }
    await script.finish();
    await stream.ended();
    const text = await slow.text();
    const places = [...text.matchAll(/"content":"(\d+):/g)].map((match) => Number(match[1]));
    expect(places).toEqual(Array.from({ length: 400 }, (_, place) => place));
    expect(text.endsWith('event: end\ndata: null\n\n')).toBe(true);
  });
});

describe('hanging up', () => {
  const cancelled = (runId: string): boolean => api.gateway.cancelled.some((one) => one.runId === runId);

  async function waitFor(condition: () => boolean | Promise<boolean>): Promise<void> {
    const deadline = Date.now() + 5_000;
    while (!(await condition()) && Date.now() < deadline) await new Promise((wake) => setTimeout(wake, 20));
  }

  it('leaves a run alone by default', async () => {
    const { stream, script, runId } = await startStream();
    await script.begin();
    await stream.until((frames) => frames.length === 2);
    stream.close();
    await new Promise((wake) => setTimeout(wake, 300));
    expect(cancelled(runId)).toBe(false);
    await script.finish();
  });

  it('cancels a run that was made with on_disconnect=cancel', async () => {
    const { stream, script, runId } = await startStream({ on_disconnect: 'cancel' });
    await script.begin();
    await stream.until((frames) => frames.length === 2);
    stream.close();
    await waitFor(() => cancelled(runId));
    expect(api.gateway.cancelled).toContainEqual({ runId, action: 'interrupt' });
    expect((await api.stores.runs.load(runId))?.cancelAction).toBe('interrupt');
    await script.finish('interrupted');
  });

  it('of an observer leaves the run alone, whatever the run was made with', async () => {
    const { stream, script, threadId, runId } = await startStream({ on_disconnect: 'cancel' });
    await script.begin();
    const observer = await openSse(`${api.url}/api/threads/${threadId}/runs/${runId}/stream`);
    await observer.until((frames) => frames.length === 2);
    observer.close();
    await new Promise((wake) => setTimeout(wake, 300));
    expect(cancelled(runId)).toBe(false);
    await script.finish();
    await stream.ended();
    expect(cancelled(runId)).toBe(false);
  });

  it('of an observer that asked for it cancels the run', async () => {
    const { stream, script, threadId, runId } = await startStream();
    await script.begin();
    const path = `/api/threads/${threadId}/runs/${runId}/stream?cancel_on_disconnect=1`;
    const observer = await openSse(api.url + path);
    await observer.until((frames) => frames.length === 2);
    observer.close();
    await waitFor(() => cancelled(runId));
    expect(cancelled(runId)).toBe(true);
    await script.finish('interrupted');
    await stream.ended();
  });

  it('by the server, when it stops, cancels nothing and breaks the stream off without an end', async () => {
    const own = await startApiHarness();
    try {
      const threadId = randomUUID();
      await own.request('POST', '/api/threads', { thread_id: threadId });
      const stream = await openSse(`${own.url}/api/threads/${threadId}/runs/stream`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ input: { messages: 'hi' }, on_disconnect: 'cancel' }),
      });
      await stream.until((frames) => frames.length === 1);
      own.beginShutdown();
      await expect(stream.ended()).rejects.toThrow();
      await new Promise((wake) => setTimeout(wake, 200));
      expect(own.gateway.cancelled).toEqual([]);
      expect(names(stream.frames)).toEqual(['metadata']);
    } finally {
      await own.close();
    }
  });
});
