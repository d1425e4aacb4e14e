import { randomUUID } from 'node:crypto';
import type { RunRecord } from '../../contracts';
import type { ApiClient, Product } from '../support/product';
import { createApiClient, startProduct } from '../support/product';
import type { OfficialClient } from './official-clients';
import { ASSISTANT, OFFICIAL_VERSIONS, QUICK, QUICK_ANSWER, SLOW, collect, human, lastText } from './official-clients';

let product: Product;
let api: ApiClient;

beforeAll(async () => {
  product = await startProduct();
  api = createApiClient(() => product.url);
});
afterAll(() => product.close());

describe.each(OFFICIAL_VERSIONS)('the official client $version', ({ connect }) => {
  let client: OfficialClient;
  beforeAll(() => {
    client = connect(product.url);
  });

  async function newThread(): Promise<string> {
    return (await client.threads.create()).thread_id;
  }

  /** A thread on which one turn was made. */
  async function usedThread(): Promise<string> {
    const threadId = await newThread();
    await client.runs.wait(threadId, ASSISTANT, { input: QUICK });
    return threadId;
  }

  describe('threads', () => {
    test('a thread has the id and the metadata that it was made with, and making it again changes nothing', async () => {
      const threadId = randomUUID();
      const made = await client.threads.create({ threadId, metadata: { topic: 'deer' }, graphId: ASSISTANT });
      expect(made).toMatchObject({ thread_id: threadId, status: 'idle', values: {}, interrupts: {} });
      const again = await client.threads.create({ threadId, ifExists: 'do_nothing', metadata: { topic: 'elk' } });
      expect(again).toEqual(made);
      expect(await client.threads.get(threadId)).toMatchObject({ thread_id: threadId, metadata: { topic: 'deer' } });
      await expect(client.threads.create({ threadId, ifExists: 'raise' })).rejects.toThrow('409');
    });

    test('metadata is merged, and found by search and count', async () => {
      const mark = randomUUID();
      const first = await client.threads.create({ metadata: { mark, kept: 1 } });
      const second = await client.threads.create({ metadata: { mark } });
      const updated = await client.threads.update(first.thread_id, { metadata: { added: true } });
      expect(updated.metadata).toMatchObject({ mark, kept: 1, added: true });
      await client.threads.patchState(first.thread_id, { patched: 'yes' });
      expect((await client.threads.get(first.thread_id)).metadata).toMatchObject({ kept: 1, patched: 'yes' });

      const search = { metadata: { mark }, sortBy: 'created_at', sortOrder: 'asc' } as const;
      const found = await client.threads.search(search);
      expect(found.map((thread) => thread.thread_id)).toEqual([first.thread_id, second.thread_id]);
      const page = await client.threads.search({ ...search, limit: 1, offset: 1, select: ['thread_id', 'metadata'] });
      expect(page.map((thread) => thread.thread_id)).toEqual([second.thread_id]);
      expect(await client.threads.search({ ids: [first.thread_id] })).toHaveLength(1);
      expect(await client.threads.count({ metadata: { mark } })).toBe(2);
      expect(await client.threads.count({ metadata: { mark, added: true } })).toBe(1);
    });

    test('a deleted thread is gone', async () => {
      const threadId = await usedThread();
      await client.threads.delete(threadId);
      await expect(client.threads.get(threadId)).rejects.toThrow('404');
      await expect(client.threads.getState(threadId)).rejects.toThrow('404');
    });

    test('state and history name their checkpoints, and each checkpoint can be read again', async () => {
      const threadId = await usedThread();
      const state = await client.threads.getState(threadId);
      expect(lastText(state.values)).toBe(QUICK_ANSWER);
      expect(state.next).toEqual([]);
      expect(state.tasks).toEqual([]);
      expect(state.checkpoint).toMatchObject({ thread_id: threadId, checkpoint_ns: '', checkpoint_map: null });
      expect(state.parent_checkpoint).toMatchObject({ thread_id: threadId, checkpoint_ns: '' });

      const history = await client.threads.getHistory(threadId, { limit: 50 });
      expect(history[0]?.checkpoint).toEqual(state.checkpoint);
      expect(lastText(history[0]?.values ?? { messages: [] })).toBe(QUICK_ANSWER);
      history.slice(1).forEach((entry, place) => {
        expect(entry.checkpoint.checkpoint_id).toBe(history[place]?.parent_checkpoint?.checkpoint_id);
      });
      expect(history.at(-1)?.parent_checkpoint).toBeNull();

      const earlier = history[1];
      if (earlier === undefined) throw new Error('the turn left one checkpoint only');
      const byId = await client.threads.getState(threadId, String(earlier.checkpoint.checkpoint_id));
      const byObject = await client.threads.getState(threadId, earlier.checkpoint);
      expect(byId.checkpoint.checkpoint_id).toBe(earlier.checkpoint.checkpoint_id);
      expect(byObject).toEqual(byId);
      const before = { configurable: { checkpoint_id: earlier.checkpoint.checkpoint_id } };
      const rest = await client.threads.getHistory(threadId, { before, limit: 1 });
      expect(rest.map((entry) => entry.checkpoint.checkpoint_id)).toEqual([earlier.checkpoint.checkpoint_id]);
      await expect(client.threads.getState(threadId, 'nowhere')).rejects.toThrow('404');
    });

    test('writing the state makes a checkpoint that follows the last one', async () => {
      const threadId = await usedThread();
      const before = await client.threads.getState(threadId);
      const written = await client.threads.updateState(threadId, { values: { title: 'Red deer' }, asNode: 'model' });
      expect(written).toHaveProperty('checkpoint.checkpoint_id');
      const after = await client.threads.getState(threadId);
      expect(after.values).toMatchObject({ title: 'Red deer', messages: before.values.messages });
      expect(after.parent_checkpoint?.checkpoint_id).toBe(before.checkpoint.checkpoint_id);
      await expect(client.threads.updateState(threadId, { values: { antlers: 2 } })).rejects.toThrow('422');
    });

    test('a copy has the same turns and goes its own way', async () => {
      const threadId = await usedThread();
      const copy = await client.threads.copy(threadId);
      expect(copy.thread_id).not.toBe(threadId);
      const [original, copied] = await Promise.all([threadId, copy.thread_id].map((id) => client.threads.getState(id)));
      expect(copied?.values.messages).toEqual(original?.values.messages);
      await client.runs.wait(copy.thread_id, ASSISTANT, { input: QUICK });
      expect((await client.threads.getState(threadId)).values.messages).toHaveLength(2);
      expect((await client.threads.getState(copy.thread_id)).values.messages).toHaveLength(4);
    });
  });

  test('assistants: the one there is can be found and read', async () => {
    const [found] = await client.assistants.search({ graphId: ASSISTANT });
    expect(found).toMatchObject({ assistant_id: ASSISTANT, graph_id: ASSISTANT, version: 1 });
    expect(await client.assistants.get(ASSISTANT)).toEqual(found);
    expect(await client.assistants.getGraph(ASSISTANT)).toMatchObject({ nodes: [], edges: [] });
    expect(await client.assistants.getSchemas(ASSISTANT)).toHaveProperty('graph_id', ASSISTANT);
    await expect(client.assistants.get('nobody')).rejects.toThrow('404');
  });

  describe('runs', () => {
    test('a background run tells both ids at once, and is listed, read and joined', async () => {
      const threadId = await newThread();
      const onRunCreated = jest.fn();
      const run = await client.runs.create(threadId, ASSISTANT, {
        input: QUICK,
        metadata: { by: 'test' },
        onRunCreated,
      });
      expect(onRunCreated).toHaveBeenCalledWith({ run_id: run.run_id, thread_id: threadId });
      expect(run).toMatchObject({ thread_id: threadId, assistant_id: ASSISTANT, metadata: { by: 'test' } });

      const values = (await client.runs.join(threadId, run.run_id)) as unknown as { messages: Array<never> };
      expect(lastText(values)).toBe(QUICK_ANSWER);
      expect(await client.runs.get(threadId, run.run_id)).toMatchObject({ run_id: run.run_id, status: 'success' });

      const second = await client.runs.create(threadId, ASSISTANT, { input: QUICK });
      await client.runs.join(threadId, second.run_id);
      const ids = async (options: Parameters<OfficialClient['runs']['list']>[1]) =>
        (await client.runs.list(threadId, options)).map(({ run_id: id }) => id);
      expect(await ids({})).toEqual([second.run_id, run.run_id]);
      expect(await ids({ limit: 1, offset: 1 })).toEqual([run.run_id]);
      expect(await ids({ status: 'success' })).toHaveLength(2);
      expect(await ids({ status: 'error' })).toEqual([]);

      await client.runs.delete(threadId, run.run_id);
      await expect(client.runs.get(threadId, run.run_id)).rejects.toThrow('404');
    });

    test('wait gives the final values, and both ids before', async () => {
      const threadId = await newThread();
      const onRunCreated = jest.fn();
      const values = await client.runs.wait(threadId, ASSISTANT, { input: QUICK, onRunCreated });
      expect(lastText(values as { messages: Array<never> })).toBe(QUICK_ANSWER);
      const [run] = await client.runs.list(threadId);
      expect(onRunCreated).toHaveBeenCalledWith({ run_id: run?.run_id, thread_id: threadId });
    });

    test('wait rejects when the run fails, and gives the values where the caller does not want that', async () => {
      const threadId = await newThread();
      const input = human('PLAN:status=400');
      await expect(client.runs.wait(threadId, ASSISTANT, { input })).rejects.toThrow(/.+: .+/);
      const [failed] = await client.runs.list(threadId);
      expect(failed?.status).toBe('error');
      const values = await client.runs.wait(threadId, ASSISTANT, { input, raiseError: false });
      expect(values).toMatchObject({
        messages: expect.any(Array),
        __error__: { error: expect.any(String), message: expect.any(String) },
      });
    });

    test('a cancelled run is interrupted once the client has its answer', async () => {
      const threadId = await newThread();
      const run = await client.runs.create(threadId, ASSISTANT, { input: SLOW });
      await client.runs.cancel(threadId, run.run_id, true);
      expect(await client.runs.get(threadId, run.run_id)).toMatchObject({ status: 'interrupted' });
      await client.runs.cancel(threadId, run.run_id, false);
      const done = await client.runs.wait(threadId, ASSISTANT, { input: QUICK });
      expect(lastText(done as { messages: Array<never> })).toBe(QUICK_ANSWER);
      const [latest] = await client.runs.list(threadId, { limit: 1 });
      await expect(client.runs.cancel(threadId, String(latest?.run_id))).rejects.toThrow('is not cancellable');
    });

    test('a run rolled back leaves no trace in the thread', async () => {
      const threadId = await usedThread();
      const run = await client.runs.create(threadId, ASSISTANT, { input: SLOW });
      await client.runs.cancel(threadId, run.run_id, true, 'rollback');
      expect(await client.runs.get(threadId, run.run_id)).toMatchObject({ status: 'error' });
      expect((await client.threads.getState(threadId)).values.messages).toHaveLength(2);
    });

    test('without a thread: stream, wait and create make one and tell its id', async () => {
      const onRunCreated = jest.fn<void, [{ run_id: string; thread_id?: string }]>();
      const parts = await collect(client.runs.stream(null, ASSISTANT, { input: QUICK, onRunCreated }));
      expect(parts.at(0)?.event).toBe('metadata');
      const waited = await client.runs.wait(null, ASSISTANT, { input: QUICK, onRunCreated });
      expect(lastText(waited as { messages: Array<never> })).toBe(QUICK_ANSWER);
      const created = await client.runs.create(null, ASSISTANT, { input: QUICK, onRunCreated });
      await client.runs.join(created.thread_id, created.run_id);
      expect(onRunCreated).toHaveBeenCalledTimes(3);
      for (const [{ run_id: runId, thread_id: threadId = '' }] of onRunCreated.mock.calls) {
        expect(await client.runs.get(threadId, runId)).toMatchObject({ status: 'success' });
        expect(lastText((await client.threads.getState(threadId)).values)).toBe(QUICK_ANSWER);
      }
    });

    test('the same idempotency key gives the same run, and the model is asked once', async () => {
      const threadId = await newThread();
      const sure = connect(product.url, { 'Idempotency-Key': randomUUID() });
      const asked = product.model.requests.length;
      const [first, second] = await Promise.all([
        sure.runs.create(threadId, ASSISTANT, { input: QUICK }),
        sure.runs.create(threadId, ASSISTANT, { input: QUICK }),
      ]);
      expect(second.run_id).toBe(first.run_id);
      await client.runs.join(threadId, first.run_id);
      const parts = await collect(sure.runs.stream(threadId, ASSISTANT, { input: QUICK, streamMode: 'values' }));
      expect(parts.at(0)?.data).toEqual({ run_id: first.run_id, thread_id: threadId });
      expect(product.model.requests.length - asked).toBe(1);
      await expect(sure.runs.create(threadId, ASSISTANT, { input: SLOW })).rejects.toThrow('409');
    });
  });

  describe('a second run on a busy thread', () => {
    let threadId: string;
    let first: string;
    beforeEach(async () => {
      threadId = await newThread();
      first = (await client.runs.create(threadId, ASSISTANT, { input: human('PLAN:delay=1000') })).run_id;
    });

    const ended = (runId: string): Promise<RunRecord> => api.ended(threadId, runId);
    const humanTexts = async () =>
      (await client.threads.getState(threadId)).values.messages
        .filter(({ type }) => type === 'human')
        .map(({ content }) => content);

    test('is refused unless the client says otherwise', async () => {
      await expect(client.runs.create(threadId, ASSISTANT, { input: QUICK })).rejects.toThrow(
        'already has an active run',
      );
      const rejecting = client.runs.wait(threadId, ASSISTANT, { input: QUICK, multitaskStrategy: 'reject' });
      await expect(rejecting).rejects.toThrow('409');
      expect((await ended(first)).status).toBe('success');
    });

    test('waits its turn with enqueue, and the client can stream it meanwhile', async () => {
      const options = { input: QUICK, multitaskStrategy: 'enqueue', streamMode: 'values' } as const;
      const parts = await collect(client.runs.stream(threadId, ASSISTANT, options));
      expect(parts.at(-1)?.event).toBe('end');
      expect((await ended(first)).status).toBe('success');
      expect(await humanTexts()).toEqual(['PLAN:delay=1000', 'PLAN:tokens=2']);
    });

    test('takes the place of the first with interrupt, which keeps what was said', async () => {
      await client.runs.wait(threadId, ASSISTANT, { input: QUICK, multitaskStrategy: 'interrupt' });
      expect((await ended(first)).status).toBe('interrupted');
      expect(await humanTexts()).toEqual(['PLAN:delay=1000', 'PLAN:tokens=2']);
    });

    test('takes the place of the first with rollback, of which nothing stays', async () => {
      await client.runs.wait(threadId, ASSISTANT, { input: QUICK, multitaskStrategy: 'rollback' });
      expect(await ended(first)).toMatchObject({ status: 'error' });
      expect(await humanTexts()).toEqual(['PLAN:tokens=2']);
    });
  });
});
