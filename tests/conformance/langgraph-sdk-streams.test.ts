import type { Product } from '../support/product';
import { startProduct } from '../support/product';
import { startCuttingProxy } from './cutting-proxy';
import type { OfficialClient, StreamPart } from './official-clients';
import {
  ASSISTANT,
  OFFICIAL_VERSIONS,
  QUICK,
  QUICK_ANSWER,
  collect,
  eventNames,
  human,
  lastText,
  lastValues,
} from './official-clients';

let product: Product;

beforeAll(async () => {
  product = await startProduct();
});
afterAll(() => product.close());

const TOOL_TURN = human('PLAN:tools=1 tool=ls tokens=3');
/** About half a second of chunks, one by one. */
const LONG = human('PLAN:tools=1 tool=ls tokens=50 gap=10');
const ALL = ['values', 'updates', 'messages-tuple', 'custom'] as const;

type MessagePair = [message: { id: string; type: string; content: string }, meta: Record<string, unknown>];

/** The text that a client puts together from the chunks of one reply. */
function textOf(parts: readonly StreamPart[], id: unknown): string {
  return parts
    .filter(({ event }) => event === 'messages')
    .map(({ data }) => (data as MessagePair)[0])
    .filter((message) => message.type === 'AIMessageChunk' && message.id === id)
    .map((message) => message.content)
    .join('');
}

describe.each(OFFICIAL_VERSIONS)('the official client $version', ({ connect }) => {
  let client: OfficialClient;
  let threadId: string;
  beforeAll(() => {
    client = connect(product.url);
  });
  beforeEach(async () => {
    threadId = (await client.threads.create()).thread_id;
  });

  test('streams a turn: both ids first, chunks that add up to the reply, whole states, the end last', async () => {
    const onRunCreated = jest.fn();
    const parts = await collect(
      client.runs.stream(threadId, ASSISTANT, { input: TOOL_TURN, streamMode: [...ALL], onRunCreated }),
    );
    const runId = (await client.runs.list(threadId))[0]?.run_id;
    expect(onRunCreated.mock.calls).toEqual([[{ run_id: runId, thread_id: threadId }]]);
    expect(parts[0]).toMatchObject({ event: 'metadata', data: { run_id: runId, thread_id: threadId } });
    expect(parts.at(-1)).toMatchObject({ event: 'end', data: null });
    const ids = parts.slice(0, -1).map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);

    const { messages } = lastValues(parts);
    expect(messages.map(({ type }) => type)).toEqual(['human', 'ai', 'tool', 'ai']);
    expect(textOf(parts, messages.at(-1)?.id)).toBe('done w1 w2 w3');
    expect((await client.threads.getState(threadId)).values.messages).toEqual(messages);
  });

  test.each([
    ['values', ['metadata', 'values', 'end']],
    ['updates', ['metadata', 'updates', 'end']],
    ['messages-tuple', ['metadata', 'messages', 'end']],
    ['custom', ['metadata', 'end']],
    ['debug', ['metadata', 'debug', 'end']],
    ['tasks', ['metadata', 'tasks', 'end']],
    ['checkpoints', ['metadata', 'checkpoints', 'end']],
  ] as const)('mode %s brings %j and nothing else', async (streamMode, names) => {
    const parts = await collect(client.runs.stream(threadId, ASSISTANT, { input: TOOL_TURN, streamMode }));
    expect([...eventNames(parts)]).toEqual(names);
  });

  test('updates name the node and what it wrote', async () => {
    const parts = await collect(client.runs.stream(threadId, ASSISTANT, { input: TOOL_TURN, streamMode: 'updates' }));
    const updates = parts.filter(({ event }) => event === 'updates').map(({ data }) => data as Record<string, unknown>);
    expect(updates).toContainEqual({ model: { messages: [expect.objectContaining({ type: 'ai' })] } });
    expect(updates).toContainEqual({
      tools: expect.objectContaining({ messages: [expect.objectContaining({ name: 'ls' })] }),
    });
    expect(updates.some((update) => Object.values(update).some((writes) => Object(writes).title !== undefined))).toBe(
      true,
    );
  });

  test('custom events tell of a model call that is tried again', async () => {
    const input = human('PLAN:status=503');
    const parts = await collect(client.runs.stream(threadId, ASSISTANT, { input, streamMode: ['custom', 'values'] }));
    expect(parts.find(({ event }) => event === 'custom')?.data).toMatchObject({
      type: 'llm_retry',
      message: expect.any(String),
    });
    expect(parts.at(-1)?.event).toBe('end');
    expect(lastValues(parts).messages.at(-1)).toMatchObject({ type: 'ai', content: expect.stringMatching(/\S/) });
  });

  test('a run can be joined with modes of the joiner, from the beginning and from the middle', async () => {
    const run = await client.runs.create(threadId, ASSISTANT, {
      input: TOOL_TURN,
      streamMode: [...ALL],
      streamResumable: true,
    });
    const whole = await collect(client.runs.joinStream(threadId, run.run_id));
    expect([...eventNames(whole)].sort()).toEqual(['end', 'messages', 'metadata', 'updates', 'values']);
    const some = await collect(
      client.runs.joinStream(threadId, run.run_id, { streamMode: ['values', 'messages-tuple'], lastEventId: '-1' }),
    );
    expect(some).toEqual(whole.filter(({ event }) => event !== 'updates'));
    const middle = whole[4];
    const rest = await collect(client.runs.joinStream(threadId, run.run_id, { lastEventId: String(middle?.id) }));
    expect(rest.map(({ data }) => data)).toEqual(whole.slice(5).map(({ data }) => data));
    await expect(collect(client.runs.joinStream(threadId, 'nothing'))).rejects.toThrow('404');
  });

  test('a reader that leaves a run with "continue" can come back to the rest of it, each event once', async () => {
    const seen: StreamPart[] = [];
    const stream = client.runs.stream(threadId, ASSISTANT, {
      input: LONG,
      streamMode: [...ALL],
      streamResumable: true,
      onDisconnect: 'continue',
    });
    for await (const part of stream) {
      seen.push(part);
      if (seen.length === 8) break;
    }
    const runId = (seen[0]?.data as { run_id: string }).run_id;
    const rest = await collect(client.runs.joinStream(threadId, runId, { lastEventId: String(seen.at(-1)?.id) }));
    expect([...seen, ...rest]).toEqual(await collect(client.runs.joinStream(threadId, runId)));
    expect(await client.runs.get(threadId, runId)).toMatchObject({ status: 'success' });
  });

  test('a reader that leaves a run with "cancel" takes the run along; one that only joined does not', async () => {
    const leave = async (stream: AsyncIterable<StreamPart>, abort: AbortController) => {
      for await (const { data } of stream) {
        abort.abort();
        return (data as { run_id: string }).run_id;
      }
      throw new Error('the stream brought nothing');
    };
    const joined = await client.runs.create(threadId, ASSISTANT, { input: LONG, streamMode: 'values' });
    const joining = new AbortController();
    await leave(client.runs.joinStream(threadId, joined.run_id, { signal: joining.signal }), joining);
    await client.runs.join(threadId, joined.run_id);
    expect(await client.runs.get(threadId, joined.run_id)).toMatchObject({ status: 'success' });

    const creating = new AbortController();
    const options = { input: human('PLAN:delay=5000'), onDisconnect: 'cancel', signal: creating.signal } as const;
    const left = await leave(client.runs.stream(threadId, ASSISTANT, options), creating);
    await client.runs.join(threadId, left);
    expect(await client.runs.get(threadId, left)).toMatchObject({ status: 'interrupted' });
  });

  // Inside the first frame, between frames, and far into the reply.
  test('a connection that breaks in mid-run is taken up again, and every event comes once', async () => {
    const cutAndCompare = async (afterBytes: number) => {
      const proxy = await startCuttingProxy(product.url, afterBytes);
      const through = connect(proxy.url);
      const thread = await client.threads.create();
      const parts = await collect(
        through.runs.stream(thread.thread_id, ASSISTANT, {
          input: LONG,
          streamMode: [...ALL],
          onDisconnect: 'continue',
        }),
      );
      await proxy.close();
      const [run] = await client.runs.list(thread.thread_id);
      expect(proxy.cuts).toBe(1);
      expect(run?.status).toBe('success');
      expect(parts).toEqual(await collect(client.runs.joinStream(thread.thread_id, String(run?.run_id))));
    };
    await Promise.all([500, 1_500, 4_000, 12_000].map(cutAndCompare));
  });

  test.each([
    ['without reconnecting', { streamResumable: false, onDisconnect: 'cancel' }],
    ['with reconnecting', { streamResumable: true, onDisconnect: 'continue' }],
  ] as const)('what the hook useStream sends is taken: %s', async (_, options) => {
    const onRunCreated = jest.fn<void, [{ run_id: string; thread_id?: string }]>();
    const sent = {
      streamMode: ['values', 'updates', 'messages-tuple', 'custom'] as (typeof ALL)[number][],
      ...options,
    };
    const parts = collect(client.runs.stream(threadId, ASSISTANT, { input: LONG, ...sent, onRunCreated }));
    while (onRunCreated.mock.calls.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    const queued = { input: QUICK, multitaskStrategy: 'enqueue', streamResumable: true } as const;
    const next = await client.runs.create(threadId, ASSISTANT, queued);
    expect(next.status).toBe('pending');
    expect((await parts).at(-1)?.event).toBe('end');
    const [run] = onRunCreated.mock.calls[0] ?? [];
    expect(await client.runs.get(threadId, String(run?.run_id))).toMatchObject({ status: 'success' });
    const joined = await collect(client.runs.joinStream(threadId, next.run_id, { lastEventId: '-1' }));
    expect(joined[0]).toMatchObject({ event: 'metadata', data: { run_id: next.run_id } });
    const [head] = await client.threads.getHistory(threadId, { limit: 1 });
    const { values } = await client.threads.getState(threadId);
    expect(head?.values.messages.map(({ id }) => id)).toEqual(values.messages.map(({ id }) => id));
    expect(lastText(head?.values ?? { messages: [] })).toBe(QUICK_ANSWER);
  });

  test('an interrupt before the tools is seen, and resuming goes on to success without asking the model again', async () => {
    const asked = product.model.requests.length;
    const parts = await collect(
      client.runs.stream(threadId, ASSISTANT, {
        input: TOOL_TURN,
        streamMode: ['values', 'updates', 'messages-tuple'],
        interruptBefore: ['tools'],
      }),
    );
    const interrupts = lastValues(parts)['__interrupt__'];
    expect(interrupts).toEqual([{ id: expect.any(String), value: expect.anything() }]);
    const state = await client.threads.getState(threadId);
    expect(state.next).toEqual(['tools']);
    expect(state.tasks).toMatchObject([{ id: expect.any(String), name: 'tools', error: null, interrupts }]);
    expect((await client.threads.getHistory(threadId))[0]?.tasks[0]?.interrupts).toEqual(interrupts);
    const thread = await client.threads.get(threadId);
    expect(thread.status).toBe('interrupted');
    expect(thread.interrupts).toEqual({ [String(state.tasks[0]?.id)]: interrupts });

    const resumed = await collect(
      client.runs.stream(threadId, ASSISTANT, { input: null, command: { resume: true }, streamMode: 'values' }),
    );
    const { messages } = lastValues(resumed);
    expect(messages.map(({ type }) => type)).toEqual(['human', 'ai', 'tool', 'ai']);
    expect(lastValues(resumed)).not.toHaveProperty('__interrupt__');
    expect(product.model.requests.length - asked).toBe(2);
    const [last] = await client.runs.list(threadId);
    expect(last?.status).toBe('success');
    expect(await client.threads.get(threadId)).toMatchObject({ status: 'idle', interrupts: {} });
  });

  test('a run from an earlier checkpoint goes on from there, and the newest checkpoint is no branch', async () => {
    await client.runs.wait(threadId, ASSISTANT, { input: human('PLAN:tokens=1') });
    const fork = (await client.threads.getState(threadId)).checkpoint;
    await client.runs.wait(threadId, ASSISTANT, { input: human('PLAN:tokens=2') });
    const { thread_id: _, ...checkpoint } = fork;
    const values = await client.runs.wait(threadId, ASSISTANT, { input: human('PLAN:tokens=3'), checkpoint });
    const humans = (values as unknown as { messages: Array<{ type: string; content: string }> }).messages
      .filter(({ type }) => type === 'human')
      .map(({ content }) => content);
    expect(humans).toEqual(['PLAN:tokens=1', 'PLAN:tokens=3']);

    const history = await client.threads.getHistory(threadId, { limit: 50 });
    const children = history.filter((entry) => entry.parent_checkpoint?.checkpoint_id === fork.checkpoint_id);
    expect(children).toHaveLength(2);

    const newest = (await client.threads.getState(threadId)).checkpoint;
    const next = await client.runs.wait(threadId, ASSISTANT, { input: QUICK, checkpoint: newest });
    expect((next as unknown as { messages: unknown[] }).messages).toHaveLength(6);
    expect(lastText(next as { messages: Array<never> })).toBe(QUICK_ANSWER);
  });

  test('a run option that is not offered is refused, and leaves no run', async () => {
    const stream = collect(client.runs.stream(threadId, ASSISTANT, { input: QUICK, durability: 'sync' }));
    await expect(stream).rejects.toThrow('422');
    expect(await client.runs.list(threadId)).toEqual([]);
  });
});
