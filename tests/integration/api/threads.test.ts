import { randomUUID } from 'node:crypto';
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ApiHarness } from '../../support/api-harness';
import { startApiHarness } from '../../support/api-harness';
import { scriptRun } from '../../support/run-script';

let api: ApiHarness;
beforeAll(async () => {
  api = await startApiHarness();
});
afterAll(() => api.close());

interface Thread {
  thread_id: string;
  status: string;
  created_at: string;
  updated_at: string;
  metadata: Record<string, unknown>;
  values: Record<string, unknown>;
}

async function create(body: object = {}): Promise<Thread> {
  return (await api.request('POST', '/api/threads', body)).body as Thread;
}

async function search(body: object): Promise<Thread[]> {
  return (await api.request('POST', '/api/langgraph/threads/search', body)).body as Thread[];
}

/** Marks threads of one test, so that tests do not see those of others. */
const tag = (): { tag: string } => ({ tag: randomUUID() });

describe('creating a thread', () => {
  it('gives an idle, empty thread with an id', async () => {
    const answer = await api.request('POST', '/api/langgraph/threads', {});
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      thread_id: expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown,
      status: 'idle',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+\+00:00$/) as unknown,
      updated_at: expect.any(String) as unknown,
      metadata: {},
      values: {},
      interrupts: {},
    });
  });

  it('twice with one id gives the same thread, unchanged', async () => {
    const threadId = randomUUID();
    const first = await create({ thread_id: threadId, metadata: { a: 1 } });
    const second = await create({ thread_id: threadId, metadata: { b: 2 } });
    expect(second).toEqual(first);
  });

  it('at the same time with one id succeeds for everybody', async () => {
    const threadId = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => api.request('POST', '/api/threads', { thread_id: threadId })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
  });

  it('refuses an id that is there where the client asked for that', async () => {
    const { thread_id } = await create();
    expect((await api.request('POST', '/api/threads', { thread_id, if_exists: 'raise' })).status).toBe(409);
  });

  it('takes no owner and no token from a client', async () => {
    const { metadata } = await create({ metadata: { a: 1, user_id: 'x', owner_id: 'y', auth_token: 'z' } });
    expect(metadata).toEqual({ a: 1 });
  });

  it.each([
    ['has space', 'string_pattern_mismatch'],
    ['../x', 'string_pattern_mismatch'],
    ['ü', 'string_pattern_mismatch'],
    ['', 'string_too_short'],
    ['x'.repeat(65), 'string_too_long'],
    [5, 'string_type'],
  ])('refuses the id %j and names it', async (thread_id, type) => {
    const answer = await api.request('POST', '/api/threads', { thread_id });
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ detail: [{ type, loc: ['body', 'thread_id'], input: thread_id }] });
    expect((answer.body as { detail: unknown[] }).detail).toHaveLength(1);
  });

  it('with the id of somebody else says that it is not found', async () => {
    const { thread_id } = await create();
    const answer = await api.request('POST', '/api/threads', { thread_id }, { 'x-test-owner': 'bob' });
    expect(answer).toMatchObject({ status: 404, body: { detail: `Thread ${thread_id} not found` } });
  });
});

describe('a thread of somebody else', () => {
  it('is not found, whatever is asked of it', async () => {
    const { thread_id: id } = await create();
    const run = await api.request('POST', `/api/threads/${id}/runs`, { input: { messages: 'hi' } });
    const { run_id: runId } = run.body as { run_id: string };
    const asks: Array<[string, string, unknown?]> = [
      ['GET', `/api/threads/${id}`],
      ['PATCH', `/api/threads/${id}`, { metadata: {} }],
      ['DELETE', `/api/threads/${id}`],
      ['POST', `/api/threads/${id}/copy`, {}],
      ['GET', `/api/threads/${id}/state`],
      ['POST', `/api/threads/${id}/state`, { values: {} }],
      ['PATCH', `/api/threads/${id}/state`, { metadata: {} }],
      ['POST', `/api/threads/${id}/history`, {}],
      ['GET', `/api/threads/${id}/messages`],
      ['GET', `/api/threads/${id}/messages/page`],
      ['GET', `/api/threads/${id}/token-usage`],
      ['POST', `/api/threads/${id}/branches`, { message_id: 'x' }],
      ['POST', `/api/threads/${id}/runs/regenerate/prepare`, { message_id: 'x' }],
      ['GET', `/api/threads/${id}/runs`],
      ['POST', `/api/threads/${id}/runs`, {}],
      ['POST', `/api/threads/${id}/runs/stream`, {}],
      ['POST', `/api/threads/${id}/runs/wait`, {}],
      ['GET', `/api/threads/${id}/runs/${runId}`],
      ['GET', `/api/threads/${id}/runs/${runId}/stream`],
      ['GET', `/api/threads/${id}/runs/${runId}/join`],
      ['GET', `/api/threads/${id}/runs/${runId}/events`],
      ['POST', `/api/threads/${id}/runs/${runId}/cancel`],
      ['DELETE', `/api/threads/${id}/runs/${runId}`],
      ['GET', `/api/runs/${runId}/messages`],
    ];
    for (const [method, path, body] of asks) {
      const answer = await api.request(method, path, body, { 'x-test-owner': 'bob' });
      expect([method, path, answer.status]).toEqual([method, path, 404]);
    }
    expect(await api.stores.runs.load(runId)).toMatchObject({ cancelAction: null, status: 'pending' });
  });
});

describe('searching threads', () => {
  it('matches metadata by value and type', async () => {
    const mark = tag();
    const one = await create({ metadata: { ...mark, k: 1 } });
    const yes = await create({ metadata: { ...mark, k: true } });
    const none = await create({ metadata: { ...mark, k: null } });
    await create({ metadata: mark });
    const found = async (k: unknown) => (await search({ metadata: { ...mark, k } })).map((thread) => thread.thread_id);
    expect(await found(1)).toEqual([one.thread_id]);
    expect(await found(true)).toEqual([yes.thread_id]);
    expect(await found(null)).toEqual([none.thread_id]);
    expect((await api.request('POST', '/api/threads/count', { metadata: mark })).body).toBe(4);
  });

  it('takes thousands of metadata keys as one condition', async () => {
    const many = {
      ...tag(),
      ...Object.fromEntries(Array.from({ length: 70_000 }, (_, place) => [`k${place}`, place])),
    };
    const { thread_id: threadId } = await create({ metadata: many });
    expect((await search({ metadata: many })).map((thread) => thread.thread_id)).toEqual([threadId]);
    expect(await search({ metadata: { ...many, k5: 'other' } })).toEqual([]);
    expect((await api.request('POST', '/api/threads/count', { metadata: many })).body).toBe(1);
  });

  it('shows pinned threads first, then the newest, whatever pinning does to them', async () => {
    const mark = tag();
    const old = await create({ metadata: mark });
    const middle = await create({ metadata: mark });
    const young = await create({ metadata: mark });
    const patched = await api.request('PATCH', `/api/threads/${old.thread_id}`, {
      metadata: { deerflow_pinned: true },
    });
    expect(patched.body).toMatchObject({ metadata: { ...mark, deerflow_pinned: true }, updated_at: old.updated_at });
    const order = (await search({ metadata: mark })).map((thread) => thread.thread_id);
    expect(order).toEqual([old.thread_id, young.thread_id, middle.thread_id]);
  });

  it('pages without losing or repeating a thread', async () => {
    const mark = tag();
    for (let place = 0; place < 5; place += 1) await create({ metadata: mark });
    const pages = [];
    for (const offset of [0, 2, 4]) pages.push(await search({ metadata: mark, limit: 2, offset }));
    expect(pages.map((page) => page.length)).toEqual([2, 2, 1]);
    expect(new Set(pages.flat().map((thread) => thread.thread_id)).size).toBe(5);
  });

  it('leaves archived threads out or shows them alone, as asked', async () => {
    const mark = tag();
    const kept = await create({ metadata: { ...mark, deerflow_archived: true } });
    const shown = await create({ metadata: mark });
    expect((await search({ metadata: mark, archived: true })).map((one) => one.thread_id)).toEqual([kept.thread_id]);
    expect((await search({ metadata: mark, archived: false })).map((one) => one.thread_id)).toEqual([shown.thread_id]);
    expect(await search({ metadata: mark })).toHaveLength(2);
  });

  it('shows of a thread its title and nothing else of its content', async () => {
    const mark = tag();
    const { thread_id } = await create({ metadata: mark });
    await api.request('POST', `/api/threads/${thread_id}/state`, { values: { title: 'A title', messages: 'hi' } });
    expect((await search({ metadata: mark }))[0]?.values).toEqual({ title: 'A title' });
  });

  it.each([
    [{ limit: 0 }, 'greater_than_equal', 'limit'],
    [{ limit: 1001 }, 'less_than_equal', 'limit'],
    [{ limit: 'x' }, 'int_parsing', 'limit'],
    [{ offset: -1 }, 'greater_than_equal', 'offset'],
    [{ metadata: { 'a.b': 1 } }, 'value_error', 'metadata'],
    [{ metadata: { a: { b: 1 } } }, 'value_error', 'metadata'],
  ])('refuses %j', async (body, type, field) => {
    const answer = await api.request('POST', '/api/threads/search', body);
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ detail: [{ type, loc: ['body', field] }] });
  });

  it('ignores what it does not know, and finds nothing for a status that does not exist', async () => {
    expect(await search({ status: 'made-up', select: ['thread_id'], extract: {} })).toEqual([]);
  });
});

describe('changing a thread', () => {
  it('merges metadata', async () => {
    const { thread_id, updated_at } = await create({ metadata: { a: 1 } });
    const answer = await api.request('PATCH', `/api/threads/${thread_id}`, { metadata: { b: 2, user_id: 'z' } });
    expect(answer.body).toMatchObject({ metadata: { a: 1, b: 2 } });
    expect((answer.body as Thread).metadata).not.toHaveProperty('user_id');
    expect((answer.body as Thread).updated_at > updated_at).toBe(true);
  });

  it('answers nothing where the client wants nothing', async () => {
    const { thread_id } = await create();
    const path = `/api/threads/${thread_id}`;
    expect((await api.request('PATCH', path, { metadata: { a: 1 } }, { prefer: 'return=minimal' })).status).toBe(204);
  });

  it('survives text that a database cannot store', async () => {
    const { thread_id } = await create();
    const body = '{"metadata":{"a":"x\\u0000y\\ud800z"}}';
    const answer = await api.request('PATCH', `/api/threads/${thread_id}`, body);
    expect(answer).toMatchObject({ status: 200, body: { metadata: { a: 'x\uFFFDy\uFFFDz' } } });
  });
});

describe('deleting a thread', () => {
  it('removes its files, its runs and its log, and frees the id', async () => {
    const { thread_id: id } = await create();
    const root = join(api.home, 'users', 'alice', 'threads', id);
    await mkdir(join(root, 'user-data', 'outputs'), { recursive: true });
    await writeFile(join(root, 'user-data', 'outputs', 'a.txt'), 'a');
    const run = await api.request('POST', `/api/threads/${id}/runs`, { input: { messages: 'hi' } });
    const script = await scriptRun(api.stores, (run.body as { run_id: string }).run_id);
    await script.begin('deleted words');
    await script.finish();

    const answer = await api.request('DELETE', `/api/langgraph/threads/${id}`);
    expect(answer.body).toEqual({ success: true, message: `Deleted local thread data for ${id}` });
    await expect(stat(root)).rejects.toThrow('ENOENT');
    expect((await api.request('GET', `/api/threads/${id}`)).status).toBe(404);
    expect((await api.request('DELETE', `/api/threads/${id}`)).status).toBe(404);
    expect((await api.request('GET', `/api/threads/${id}/messages/page`)).body).toEqual({
      data: [],
      has_more: false,
      next_before_seq: null,
    });
    expect(await api.stores.events.read(script.runId, -1, 10)).toEqual([]);
    await create({ thread_id: id });
    expect((await api.request('GET', `/api/threads/${id}`)).text).not.toContain('deleted words');
  });

  it('says that there were no files where there were none', async () => {
    const { thread_id } = await create();
    const answer = await api.request('DELETE', `/api/threads/${thread_id}`);
    expect(answer.body).toEqual({ success: true, message: `No local data for ${thread_id}` });
  });

  it('works for ids of old that no other route takes', async () => {
    await api.stores.threads.create({ threadId: 'old.id', owner: 'alice', metadata: {} });
    expect((await api.request('GET', '/api/threads/old.id')).status).toBe(422);
    expect((await api.request('DELETE', '/api/threads/old.id')).status).toBe(200);
    expect((await api.request('DELETE', '/api/threads/old%00id')).status).toBe(404);
  });
});

describe('copying a thread', () => {
  it('gives a thread of its own with the same state, checkpoints and messages', async () => {
    const { thread_id: id } = await create({ metadata: { colour: 'red' } });
    const run = await api.request('POST', `/api/threads/${id}/runs`, { input: { messages: 'hi' } });
    const script = await scriptRun(api.stores, (run.body as { run_id: string }).run_id);
    await script.begin('a question');
    await script.reply('an answer');
    await script.finish();

    const copy = (await api.request('POST', `/api/threads/${id}/copy`, {})).body as Thread;
    expect(copy).toMatchObject({ status: 'idle', metadata: { colour: 'red' } });
    expect(copy.thread_id).not.toBe(id);
    await api.request('DELETE', `/api/threads/${id}`);

    const state = await api.request('GET', `/api/threads/${copy.thread_id}/state`);
    expect(state.body).toMatchObject({ values: { messages: [{ content: 'a question' }, { content: 'an answer' }] } });
    const history = await api.request('POST', `/api/threads/${copy.thread_id}/history`, {});
    expect(history.body).toHaveLength(4);
    const page = await api.request('GET', `/api/threads/${copy.thread_id}/messages/page`);
    expect(page.body).toMatchObject({ data: [{ content: { content: 'a question' } }, {}] });
  });
});
