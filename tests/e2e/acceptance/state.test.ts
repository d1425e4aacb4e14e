import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject, JsonValue } from '../../../contracts';
import { call, calls, hang, say } from '../../support/fake-model';
import type { ThreadValues } from '../../support/product';
import { lastText, lastValues, runIdOf, texts, unknownId, useProduct } from './scenario';

const used = useProduct();
const { api, script, run, start, stream, get } = used;

interface Checkpoint {
  checkpoint_id: string;
  parent_checkpoint_id: string | null;
  checkpoint: { checkpoint_id: string; thread_id: string; checkpoint_ns: string };
  parent_checkpoint: { checkpoint_id: string } | null;
  next: string[];
  tasks: Array<{ name: string; interrupts: JsonValue[]; error: string | null }>;
  values: ThreadValues;
  metadata: JsonObject;
}

function state(threadId: string): Promise<Checkpoint> {
  return get<Checkpoint>(`/api/threads/${threadId}/state`);
}

async function history(threadId: string, body: JsonObject = {}): Promise<Checkpoint[]> {
  return (await api.request<Checkpoint[]>('POST', `/api/threads/${threadId}/history`, body)).body;
}

function filesOf(threadId: string): string {
  return join(used.product.home, 'users/default/threads', threadId);
}

describe('a thread', () => {
  test('needs an id that can be a path, and creating it twice gives the same thread', async () => {
    const refused = await api.request<{ detail: JsonValue }>('POST', '/api/threads', { thread_id: 'a b' });
    expect(refused.status).toBe(422);
    expect(JSON.stringify(refused.body.detail)).toContain('thread_id');
    const threadId = unknownId();
    const create = () => api.request<JsonObject>('POST', '/api/threads', { thread_id: threadId });
    const both = await Promise.all([create(), create()]);
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    expect(both[0]?.body['created_at']).toBe(both[1]?.body['created_at']);
  });

  test('is found by exactly the metadata it has, and a pinned one comes first without having changed', async () => {
    const mark = unknownId();
    const make = (metadata: JsonObject) =>
      api.request<{ thread_id: string; updated_at: string }>('POST', '/api/threads', {
        metadata: { mark, ...metadata },
      });
    const old = (await make({ k: 1 })).body;
    await make({ k: 2 });
    const search = (body: JsonObject) =>
      api.request<Array<{ thread_id: string; updated_at: string }>>('POST', '/api/threads/search', body);
    expect((await search({ metadata: { mark, k: true } })).body).toEqual([]);
    expect((await search({ metadata: { mark, k: 1 } })).body).toHaveLength(1);
    expect((await search({ metadata: { 'a.b': 1 } })).status).toBe(422);
    expect((await search({ limit: 1001 })).status).toBe(422);

    await api.request('PATCH', `/api/threads/${old.thread_id}`, { metadata: { deerflow_pinned: true } });
    const [first] = (await search({ metadata: { mark } })).body;
    expect(first).toMatchObject({ thread_id: old.thread_id, updated_at: old.updated_at });
  });

  test('cannot be deleted while a run is active; afterwards it is gone, with its files and its stream', async () => {
    script(
      call('write_file', { path: '/mnt/user-data/workspace/note.txt', content: 'kept' }),
      say('done'),
      hang(60_000),
    );
    const threadId = await api.newThread();
    const first = await run(threadId, 'write');
    expect(existsSync(join(filesOf(threadId), 'user-data/workspace/note.txt'))).toBe(true);
    const active = await start(threadId, 'go');
    await used.model.waitForRequests(3);
    const busy = await api.request('DELETE', `/api/threads/${threadId}`);
    expect(busy.status).toBe(409);
    expect(busy.body).toEqual({ detail: 'Thread has work in flight. Delete it after the work finishes.' });

    await api.request('POST', `/api/threads/${threadId}/runs/${active.run_id}/cancel?wait=true`);
    expect((await api.request('DELETE', `/api/threads/${threadId}`)).status).toBe(200);
    expect((await api.request('GET', `/api/threads/${threadId}`)).status).toBe(404);
    expect(existsSync(filesOf(threadId))).toBe(false);
    for (const table of ['runs', 'thread_messages', 'run_journal', 'checkpoints']) {
      const { rows } = await used.product.pool.query(`select 1 from ${table} where thread_id = $1`, [threadId]);
      expect(rows).toEqual([]);
    }
    const { rows } = await used.product.pool.query('select 1 from run_events where run_id = $1', [first.run_id]);
    expect(rows).toEqual([]);
  });
});

describe('writing state', () => {
  test('takes no unknown field, no unknown checkpoint, and nothing while a run is active', async () => {
    script(hang(60_000));
    const threadId = await api.newThread();
    const write = (body: JsonObject) => api.request('POST', `/api/threads/${threadId}/state`, body);
    expect(await write({ values: { nope: 1 } })).toMatchObject({
      status: 422,
      body: { detail: 'Unknown thread-state field(s): nope' },
    });
    expect((await write({ values: { title: 'x' }, checkpoint_id: unknownId() })).status).toBe(404);
    const { run_id: runId } = await start(threadId, 'go');
    expect((await write({ values: { title: 'x' } })).status).toBe(409);
    await api.request('POST', `/api/threads/${threadId}/runs/${runId}/cancel?wait=true`);
    expect((await write({ values: { title: 'renamed' } })).status).toBe(200);
    expect((await api.values(threadId)).title).toBe('renamed');
  });

  test('changes what the model is told next', async () => {
    script(say('the sky is green'), say('as you say'));
    const threadId = await api.newThread();
    await run(threadId, 'what colour is the sky?');
    const { messages } = await api.values(threadId);
    const corrected = messages.map((message) =>
      message.type === 'ai' ? { ...message, content: 'the sky is blue' } : message,
    );
    await api.request('POST', `/api/threads/${threadId}/state`, { values: { messages: corrected } });
    await run(threadId, 'are you sure?');
    const told = JSON.stringify(used.model.requests.at(-1)?.body.messages);
    expect(told).toContain('the sky is blue');
    expect(told).not.toContain('the sky is green');
    used.model.assertClean();
  });
});

describe('the history of a thread', () => {
  test('leads from the newest state back to the first, each entry naming the one before it', async () => {
    script(call('ls', { path: '/mnt/user-data/workspace' }), say('nothing there'));
    const threadId = await api.newThread();
    await run(threadId, 'look');
    const entries = await history(threadId);
    const now = await state(threadId);
    expect(entries[0]).toMatchObject({ checkpoint_id: now.checkpoint_id, next: [] });
    expect(entries[0]?.checkpoint).toMatchObject({
      thread_id: threadId,
      checkpoint_ns: '',
      checkpoint_id: now.checkpoint_id,
    });
    entries.slice(0, -1).forEach((entry, place) => {
      expect(entry.parent_checkpoint?.checkpoint_id).toBe(entries[place + 1]?.checkpoint_id);
    });
    expect(entries.at(-1)?.parent_checkpoint).toBeNull();
    expect(entries.every(({ tasks }) => Array.isArray(tasks))).toBe(true);
    expect(texts(now.values)).toEqual(['look', '', expect.any(String), 'nothing there']);
  });

  test('an earlier checkpoint can be gone back to: the conversation forks there', async () => {
    script(say('first answer'), say('second answer'), say('another second answer'));
    const threadId = await api.newThread();
    await run(threadId, 'one');
    const { checkpoint } = await state(threadId);
    await run(threadId, 'two');
    const beforeFork = await state(threadId);
    await run(threadId, 'two, otherwise', { checkpoint: { ...checkpoint, checkpoint_map: null } });
    expect(texts(await api.values(threadId))).toEqual([
      'one',
      'first answer',
      'two, otherwise',
      'another second answer',
    ]);
    const told = JSON.stringify(used.model.requests.at(-1)?.body.messages);
    expect(told).toContain('first answer');
    expect(told).not.toContain('second answer');
    const old = await get<Checkpoint>(`/api/threads/${threadId}/state/${beforeFork.checkpoint_id}`);
    expect(texts(old.values)).toEqual(['one', 'first answer', 'two', 'second answer']);
  });

  test('a run that is cancelled with a rollback leaves no trace in it for later runs', async () => {
    script(say('kept'), call('bash', { command: 'echo hi' }), hang(60_000), say('go on'));
    const threadId = await api.newThread();
    await run(threadId, 'one');
    const before = await api.values(threadId);
    const { run_id: runId } = await start(threadId, 'two');
    await used.model.waitForRequests(3);
    const path = `/api/threads/${threadId}/runs/${runId}`;
    expect((await api.request('POST', `${path}/cancel?action=rollback&wait=true`)).status).toBe(204);
    expect(await get(path)).toMatchObject({ status: 'error', error: { message: 'Rolled back by user' } });
    expect(await api.values(threadId)).toEqual(before);
    await run(threadId, 'three');
    expect(JSON.stringify(used.model.requests.at(-1)?.body.messages)).not.toContain('two');
    used.model.assertClean();
  });
});

describe('a run without input', () => {
  test.each<JsonObject>([{ input: null }, { input: null, command: { resume: 'yes' } }])(
    'on a thread where nothing waits asks the model nothing (%j)',
    async (extra) => {
      script(say('all said'));
      const threadId = await api.newThread();
      await run(threadId, 'hi');
      const before = await api.values(threadId);
      const again = await run(threadId, '', extra);
      expect(again).toMatchObject({ status: 'success', llm_call_count: 0 });
      expect(await api.values(threadId)).toEqual(before);
      expect(used.model.requests).toHaveLength(1);
    },
  );
});

describe('a breakpoint', () => {
  const twoCalls = () =>
    calls([
      { tool: 'bash', args: { command: 'echo ran >> /mnt/user-data/workspace/log.txt; echo one' }, id: 'c1' },
      { tool: 'ls', args: { path: '/mnt/user-data/workspace' }, id: 'c2' },
    ]);

  test('before the tools: nothing has run, the thread says what waits, and a resume goes on from there', async () => {
    script(twoCalls(), say('done'));
    const threadId = await api.newThread();
    const { frames } = await stream(threadId, 'go', { interrupt_before: ['tools'] });
    const values = frames.findLast(({ event }) => event === 'values')?.data as { __interrupt__?: JsonValue[] };
    expect(values.__interrupt__).toEqual([{ id: expect.any(String), value: expect.anything() }]);
    expect((await api.ended(threadId, runIdOf(frames))).status).toBe('success');
    const waiting = await state(threadId);
    expect(waiting.next).toEqual(['tools']);
    expect(waiting.tasks).toEqual([expect.objectContaining({ name: 'tools', interrupts: values.__interrupt__ })]);
    expect(await get(`/api/threads/${threadId}`)).toMatchObject({ status: 'interrupted' });
    expect(existsSync(join(filesOf(threadId), 'user-data/workspace/log.txt'))).toBe(false);

    const resumed = await run(threadId, '', { input: null, command: { resume: { ok: true } } });
    expect(resumed.status).toBe('success');
    const after = await state(threadId);
    expect(after.next).toEqual([]);
    expect(texts(after.values)).toEqual(['go', '', expect.stringContaining('one'), expect.any(String), 'done']);
    expect(await get(`/api/threads/${threadId}`)).toMatchObject({ status: 'idle' });
    used.model.assertClean();
  });

  test('before the model: it is asked only after the resume', async () => {
    script(say('now'));
    const threadId = await api.newThread();
    await run(threadId, 'go', { interrupt_before: '*' });
    expect((await state(threadId)).next).toEqual(['model']);
    expect(used.model.requests).toHaveLength(0);
    await run(threadId, '', { input: null });
    expect(lastText(await api.values(threadId))).toBe('now');
  });

  test('after the tools: their results are there and the model has not seen them', async () => {
    script(twoCalls(), say('done'));
    const threadId = await api.newThread();
    await run(threadId, 'go', { interrupt_after: ['tools'] });
    expect(await state(threadId)).toMatchObject({ next: ['model'] });
    expect(used.model.requests).toHaveLength(1);
    await run(threadId, '', { input: null, command: { resume: true } });
    expect(lastText(await api.values(threadId))).toBe('done');
    used.model.assertClean();
  });

  test('that the user does not go on from: a new message is answered, and the open calls stay answered in words', async () => {
    script(twoCalls(), say('never mind then'));
    const threadId = await api.newThread();
    await run(threadId, 'go', { interrupt_before: ['tools'] });
    const { frames } = await stream(threadId, 'something else');
    expect(lastText(lastValues(frames))).toBe('never mind then');
    expect(existsSync(join(filesOf(threadId), 'user-data/workspace/log.txt'))).toBe(false);
    used.model.assertClean();
  });
});
