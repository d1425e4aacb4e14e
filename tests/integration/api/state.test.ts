import { randomUUID } from 'node:crypto';
import type { ApiHarness } from '../../support/api-harness';
import { startApiHarness } from '../../support/api-harness';
import type { RunScript } from '../../support/run-script';
import { scriptRun } from '../../support/run-script';

let api: ApiHarness;
beforeAll(async () => {
  api = await startApiHarness();
});
afterAll(() => api.close());

interface State {
  values: { messages: Array<Record<string, unknown>>; title?: string; [channel: string]: unknown };
  next: string[];
  checkpoint: Record<string, unknown>;
  checkpoint_id: string;
  parent_checkpoint_id: string | null;
  parent_checkpoint: Record<string, unknown> | null;
  tasks: Array<Record<string, unknown>>;
}

async function newThread(): Promise<string> {
  const threadId = randomUUID();
  await api.request('POST', '/api/threads', { thread_id: threadId });
  return threadId;
}

async function newRun(threadId: string, body: object = {}): Promise<RunScript> {
  const answer = await api.request('POST', `/api/threads/${threadId}/runs`, { input: { messages: 'hi' }, ...body });
  return scriptRun(api.stores, (answer.body as { run_id: string }).run_id);
}

const stateOf = async (threadId: string): Promise<State> =>
  (await api.request('GET', `/api/threads/${threadId}/state`)).body as State;

const write = (threadId: string, body: object) => api.request('POST', `/api/threads/${threadId}/state`, body);

const history = async (threadId: string, body: object = {}): Promise<State[]> =>
  (await api.request('POST', `/api/threads/${threadId}/history`, body)).body as State[];

describe('the state of a thread', () => {
  it('is there before the first run', async () => {
    const threadId = await newThread();
    const state = await stateOf(threadId);
    expect(state.values).toEqual({
      messages: [],
      artifacts: [],
      viewed_images: {},
      delegations: [],
      skill_context: [],
    });
    expect(state).toMatchObject({ next: [], tasks: [], parent_checkpoint: null, parent_checkpoint_id: null });
    expect(state.checkpoint).toMatchObject({
      thread_id: threadId,
      checkpoint_ns: '',
      checkpoint_id: state.checkpoint_id,
      checkpoint_map: null,
      id: state.checkpoint_id,
    });
  });

  it('names where files are as the agent sees them, never as the server does', async () => {
    const threadId = await newThread();
    await (await newRun(threadId)).begin();
    const answer = await api.request('GET', `/api/threads/${threadId}`);
    expect(answer.body).toMatchObject({
      status: 'busy',
      values: { thread_data: { workspace_path: '/mnt/user-data/workspace', outputs_path: '/mnt/user-data/outputs' } },
    });
    expect(answer.text).not.toContain(api.home);
  });

  it('tells of the breakpoint at which a thread waits', async () => {
    const threadId = await newThread();
    const script = await newRun(threadId);
    await script.begin();
    await script.stopBefore('tools');
    const state = await stateOf(threadId);
    expect(state.next).toEqual(['tools']);
    expect(state.tasks).toMatchObject([{ name: 'tools', error: null, interrupts: [{ id: 'stop-tools' }] }]);
    const thread = (await api.request('GET', `/api/threads/${threadId}`)).body as {
      status: string;
      interrupts: Record<string, unknown>;
    };
    expect(thread.status).toBe('interrupted');
    expect(Object.values(thread.interrupts)).toEqual([[expect.objectContaining({ id: 'stop-tools' })]]);
  });

  it('hides images that were put into hidden messages for the model', async () => {
    const threadId = await newThread();
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    const text = { type: 'text', text: 'look' };
    const messages = [
      { type: 'human', content: [text, image], additional_kwargs: { hide_from_ui: true } },
      { type: 'human', content: [text, image] },
    ];
    await write(threadId, { values: { messages } });
    const { values } = await stateOf(threadId);
    expect(values.messages.map((message) => message['content'])).toEqual([[text], [text, image]]);
  });

  it('can be read at each of its checkpoints', async () => {
    const threadId = await newThread();
    await write(threadId, { values: { title: 'first' } });
    const { checkpoint_id: earlier } = await stateOf(threadId);
    await write(threadId, { values: { title: 'second' } });
    const path = `/api/langgraph/threads/${threadId}/state`;
    expect((await api.request('GET', `${path}/${earlier}`)).body).toMatchObject({ values: { title: 'first' } });
    const body = { checkpoint: { checkpoint_id: earlier }, subgraphs: false };
    expect((await api.request('POST', `${path}/checkpoint`, body)).body).toMatchObject({ values: { title: 'first' } });
    for (const unknown of ['nope', randomUUID()]) {
      expect((await api.request('GET', `${path}/${unknown}`)).status).toBe(404);
    }
  });
});

describe('writing state', () => {
  it('replaces a channel, gives the thread its name and leaves a checkpoint', async () => {
    const threadId = await newThread();
    const before = await stateOf(threadId);
    await write(threadId, { values: { artifacts: ['/mnt/user-data/outputs/a'] } });
    const answer = await write(threadId, { values: { artifacts: ['/b'], title: 'A new title' }, as_node: 'me' });
    expect(answer.status).toBe(200);
    const state = answer.body as State;
    expect(state.values).toMatchObject({ artifacts: ['/b'], title: 'A new title' });
    expect(state).toMatchObject({ metadata: { source: 'update', step: 1 } });
    expect(state.parent_checkpoint_id).not.toBe(before.checkpoint_id);
    expect(await history(threadId)).toHaveLength(3);
  });

  it('replaces all messages, in the order that was sent', async () => {
    const threadId = await newThread();
    const message = (id: string) => ({ type: 'human', id, content: id });
    await write(threadId, { values: { messages: [message('a'), message('b'), message('c')] } });
    const answer = await write(threadId, { values: { messages: [message('c'), message('a'), message('d')] } });
    expect((answer.body as State).values.messages.map((one) => one['id'])).toEqual(['c', 'a', 'd']);
  });

  it('can start from an earlier checkpoint', async () => {
    const threadId = await newThread();
    const message = (id: string) => ({ type: 'human', id, content: id });
    await write(threadId, { values: { title: 'one', messages: [message('a')] } });
    const { checkpoint_id: earlier } = await stateOf(threadId);
    await write(threadId, { values: { title: 'two', messages: [message('b')], todos: [] } });
    const answer = await write(threadId, { values: { artifacts: ['/x'] }, checkpoint_id: earlier });
    const state = answer.body as State;
    expect(state.values).toMatchObject({ title: 'one', artifacts: ['/x'], messages: [{ id: 'a' }] });
    expect(state.values).not.toHaveProperty('todos');
    expect(state.parent_checkpoint_id).toBe(earlier);
    const again = await write(threadId, { values: { messages: [message('a')] }, checkpoint_id: earlier });
    expect((again.body as State).values.messages).toMatchObject([{ id: 'a' }]);
  });

  it('takes no channel that does not exist, and none of the server', async () => {
    const threadId = await newThread();
    const answer = await write(threadId, { values: { nope: 1, other: 2 } });
    expect(answer).toMatchObject({ status: 422, body: { detail: 'Unknown thread-state field(s): nope, other' } });
    await write(threadId, { values: { thread_data: { workspace_path: '/etc' }, messages: 'x' } });
    expect((await stateOf(threadId)).values['thread_data']).toMatchObject({
      workspace_path: '/mnt/user-data/workspace',
    });
  });

  it.each(['', 'nope', randomUUID()])('from the checkpoint %j, which does not exist, is not found', async (id) => {
    const threadId = await newThread();
    const answer = await write(threadId, { values: { title: 'x' }, checkpoint_id: id });
    expect(answer).toMatchObject({ status: 404, body: { detail: `Checkpoint ${id} not found` } });
    expect((await write(threadId, { values: { title: 'x' } })).status).toBe(200);
  });

  it('of a malformed message writes nothing', async () => {
    const threadId = await newThread();
    const answer = await write(threadId, { values: { messages: [{ role: 'user' }], title: 'x' } });
    expect(answer.status).toBe(400);
    expect((await stateOf(threadId)).values).not.toHaveProperty('title');
  });

  it('keeps a thread waiting that waits at a breakpoint', async () => {
    const threadId = await newThread();
    const script = await newRun(threadId);
    await script.begin();
    await script.stopBefore('tools');
    await write(threadId, { values: { title: 'corrected' } });
    expect((await stateOf(threadId)).next).toEqual(['tools']);
  });

  it('as a patch merges the metadata of the thread', async () => {
    const threadId = await newThread();
    const answer = await api.request('PATCH', `/api/threads/${threadId}/state`, { metadata: { a: 1 } });
    expect(answer.status).toBe(204);
    expect((await api.request('GET', `/api/threads/${threadId}`)).body).toMatchObject({ metadata: { a: 1 } });
  });
});

describe('the history of a thread', () => {
  it('shows the newest state whole and of earlier ones what they are called', async () => {
    const threadId = await newThread();
    const script = await newRun(threadId);
    await script.begin('a question');
    await script.reply('an answer');
    await script.finish();
    const entries = await history(threadId, { limit: 3 });
    expect(entries).toHaveLength(3);
    const [first, second] = entries;
    expect(first?.values.messages).toMatchObject([
      { type: 'human', content: 'a question' },
      { type: 'ai', content: 'an answer', run_id: script.runId, additional_kwargs: { turn_duration: 0 } },
    ]);
    expect(first?.values.messages[0]).not.toHaveProperty('run_id');
    expect(second?.values).not.toHaveProperty('messages');
    expect(first).toMatchObject({ next: [], tasks: [], parent_checkpoint: { checkpoint_id: second?.checkpoint_id } });
  });

  it('goes back from a checkpoint, that one included, in either form that names it', async () => {
    const threadId = await newThread();
    for (const title of ['a', 'b', 'c']) await write(threadId, { values: { title } });
    const [, second] = await history(threadId);
    for (const before of [second?.checkpoint_id, { configurable: { checkpoint_id: second?.checkpoint_id } }]) {
      const entries = await history(threadId, { limit: 2, before });
      expect(entries.map((entry) => entry.values.title)).toEqual(['b', 'a']);
    }
    expect(await history(threadId, { before: 'nope' })).toEqual([]);
  });

  it('of a thread that nobody has is empty', async () => {
    expect(await history(randomUUID())).toEqual([]);
  });

  it('before the first run has one empty entry', async () => {
    const threadId = await newThread();
    expect(await history(threadId)).toMatchObject([{ values: {}, metadata: { step: -1 }, parent_checkpoint_id: null }]);
    expect((await history(threadId))[0]?.values).toEqual({});
  });

  it.each([0, 101])('takes no limit of %d', async (limit) => {
    const threadId = await newThread();
    expect((await api.request('POST', `/api/threads/${threadId}/history`, { limit })).status).toBe(422);
  });
});
