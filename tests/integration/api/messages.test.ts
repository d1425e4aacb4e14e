import { randomUUID } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunRecord } from '../../../contracts';
import type { ApiHarness } from '../../support/api-harness';
import { startApiHarness } from '../../support/api-harness';
import type { RunScript } from '../../support/run-script';
import { scriptRun } from '../../support/run-script';

let api: ApiHarness;
beforeAll(async () => {
  api = await startApiHarness();
});
afterAll(() => api.close());

interface Row {
  run_id: string;
  seq: number;
  event_type: string;
  content: Record<string, unknown> & { content: string };
}

interface Page {
  data: Row[];
  has_more: boolean;
  next_before_seq?: number | null;
}

async function newThread(): Promise<string> {
  const threadId = randomUUID();
  await api.request('POST', '/api/threads', { thread_id: threadId });
  return threadId;
}

async function newRun(threadId: string, body: object = {}): Promise<RunScript> {
  const answer = await api.request('POST', `/api/threads/${threadId}/runs`, { input: { messages: 'hi' }, ...body });
  return scriptRun(api.stores, (answer.body as RunRecord).run_id);
}

interface Turn {
  runId: string;
  questionId: string;
  answerId: string;
}

async function turn(threadId: string, question: string, answer: string, body: object = {}): Promise<Turn> {
  const script = await newRun(threadId, body);
  const questionId = await script.begin(question);
  const answerId = await script.reply(answer);
  await script.finish();
  return { runId: script.runId, questionId, answerId };
}

async function get<T>(path: string): Promise<T> {
  return (await api.request('GET', path)).body as T;
}

const texts = (rows: Row[]): string[] => rows.map((row) => row.content.content);

describe('the messages of a thread', () => {
  it('come in order, with the time that each turn took on its last reply', async () => {
    const threadId = await newThread();
    const { runId, answerId } = await turn(threadId, 'q1', 'a1');
    const rows = await get<Row[]>(`/api/threads/${threadId}/messages`);
    expect(texts(rows)).toEqual(['q1', 'a1']);
    expect(rows[1]).toEqual({
      thread_id: threadId,
      run_id: runId,
      seq: expect.any(Number) as unknown,
      event_type: 'llm.ai.response',
      category: 'message',
      content: expect.objectContaining({ id: answerId, additional_kwargs: { turn_duration: 0 } }) as unknown,
      metadata: { caller: 'lead_agent' },
      created_at: expect.any(String) as unknown,
      feedback: null,
    });
    expect(await get(`/api/threads/${randomUUID()}/messages`)).toEqual([]);
  });

  it('can be paged backwards, each seen once', async () => {
    const threadId = await newThread();
    for (const place of [1, 2, 3]) await turn(threadId, `q${place}`, `a${place}`);
    const seen: string[] = [];
    let query = '?limit=4';
    for (let pages = 0; pages < 5; pages += 1) {
      const page = await get<Page>(`/api/threads/${threadId}/messages/page${query}`);
      seen.unshift(...texts(page.data));
      if (!page.has_more) {
        expect(page.next_before_seq).toBeNull();
        break;
      }
      query = `?limit=4&before_seq=${page.next_before_seq}`;
    }
    expect(seen).toEqual(['q1', 'a1', 'q2', 'a2', 'q3', 'a3']);
  });

  it('of a chat that does not exist yet are an empty page', async () => {
    const page = await get(`/api/threads/${randomUUID()}/messages/page`);
    expect(page).toEqual({ data: [], has_more: false, next_before_seq: null });
  });

  it('cannot be paged forwards', async () => {
    const answer = await api.request('GET', `/api/threads/${randomUUID()}/messages/page?after_seq=1`);
    expect(answer).toMatchObject({
      status: 422,
      body: { detail: 'after_seq is not supported by this backward-only endpoint' },
    });
  });

  it.each(['limit=0', 'limit=201', 'limit=x', 'before_seq=-1'])('cannot be asked for with %s', async (query) => {
    const answer = await api.request('GET', `/api/threads/${randomUUID()}/messages?${query}`);
    expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ['query', query.split('=')[0]] }] } });
  });
});

describe('the messages and events of a run', () => {
  it('come in pages in both directions', async () => {
    const threadId = await newThread();
    const { runId } = await turn(threadId, 'q', 'a');
    const path = `/api/threads/${threadId}/runs/${runId}/messages`;
    const all = await get<Page>(path);
    expect([texts(all.data), all.has_more]).toEqual([['q', 'a'], false]);
    const newest = await get<Page>(`${path}?limit=1`);
    expect([texts(newest.data), newest.has_more]).toEqual([['a'], true]);
    const oldest = await get<Page>(`${path}?limit=1&after_seq=0`);
    expect([texts(oldest.data), oldest.has_more]).toEqual([['q'], true]);
    expect(await get(`/api/runs/${runId}/messages`)).toEqual(all);
    expect((await api.request('GET', '/api/runs/nope/messages')).status).toBe(404);
    expect(await get(`/api/threads/${threadId}/runs/nope/messages`)).toEqual({ data: [], has_more: false });
  });

  it('are numbered through the thread and can be chosen by type', async () => {
    const threadId = await newThread();
    const first = await turn(threadId, 'q1', 'a1');
    const second = await turn(threadId, 'q2', 'a2');
    const events = async (runId: string, query = '') =>
      get<Row[]>(`/api/threads/${threadId}/runs/${runId}/events${query}`);
    const all = [...(await events(first.runId)), ...(await events(second.runId))];
    expect(all.map((row) => row.seq)).toEqual([1, 2, 3, 4, 5, 6]);
    const chosen = await events(second.runId, '?event_types=run.start,llm.ai.response&limit=1');
    expect(chosen.map((row) => row.event_type)).toEqual(['run.start']);
    expect((await events(second.runId, '?after_seq=5')).map((row) => row.seq)).toEqual([6]);
    expect(await events('nope')).toEqual([]);
    expect(await events(first.runId, '?event_types=%00')).toEqual([]);
    expect(await events(first.runId, '?task_id=a%00b')).toEqual([]);
  });

  it('tell that no file changes are recorded', async () => {
    const answer = await get<object>(`/api/threads/${randomUUID()}/runs/nope/workspace-changes?include_files=true`);
    expect(answer).toMatchObject({ available: false, version: 1, files: [], limits: {} });
  });
});

describe('token usage', () => {
  it('adds up the runs that have ended, and those under way if asked', async () => {
    const threadId = await newThread();
    await turn(threadId, 'q', 'a');
    const script = await newRun(threadId);
    await script.begin();
    await script.reply('b');
    const usage = (query = '') => get(`/api/threads/${threadId}/token-usage${query}`);
    expect(await usage()).toEqual({
      thread_id: threadId,
      total_tokens: 15,
      total_input_tokens: 10,
      total_output_tokens: 5,
      total_runs: 1,
      by_model: { demo: { tokens: 15, runs: 1 } },
      by_caller: { lead_agent: 15, subagent: 0, middleware: 0 },
      context_usage: null,
    });
    expect(await usage('?include_active=true')).toMatchObject({ total_runs: 2, total_tokens: 30 });
    expect(await get(`/api/threads/${randomUUID()}/token-usage`)).toMatchObject({ total_tokens: 0, by_model: {} });
  });

  it('names who used them and of which model, also where that is not the model of the run', async () => {
    const threadId = await newThread();
    const script = await newRun(threadId);
    await script.begin();
    await script.reply('b');
    const call = (caller: string, model: string, total: number) =>
      api.stores.log.commit({
        threadId,
        runId: script.runId,
        sideUsage: { caller, model, calls: 1, input: total - 1, output: 1, total },
      });
    await call('middleware:title', 'small', 4);
    await call('subagent:researcher', 'demo', 10);
    await call('subagent:researcher', 'demo', 10);
    await script.finish();
    expect(await get(`/api/threads/${threadId}/token-usage`)).toMatchObject({
      total_tokens: 39,
      total_input_tokens: 31,
      total_output_tokens: 8,
      total_runs: 1,
      by_model: { demo: { tokens: 35, runs: 1 }, small: { tokens: 4, runs: 1 } },
      by_caller: { lead_agent: 15, subagent: 20, middleware: 4 },
    });
    expect(await get(`/api/threads/${threadId}/runs/${script.runId}`)).toMatchObject({
      total_tokens: 39,
      llm_call_count: 4,
      lead_agent_tokens: 15,
      subagent_tokens: 20,
      middleware_tokens: 4,
    });
  });
});

describe('doing the newest turn again', () => {
  const prepare = (threadId: string, body: object) =>
    api.request('POST', `/api/threads/${threadId}/runs/regenerate/prepare`, body);

  it('gives a request that branches from before the turn and replaces it', async () => {
    const threadId = await newThread();
    await turn(threadId, 'q1', 'a1');
    const before = await api.stores.log.head(threadId);
    const { runId, questionId, answerId } = await turn(threadId, 'q2', 'a2');
    const { status, body } = await prepare(threadId, { message_id: answerId });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      input: {
        messages: [{ type: 'human', id: questionId, content: [{ type: 'text', text: 'q2' }], name: 'user-input' }],
      },
      checkpoint: { checkpoint_ns: '', checkpoint_id: before?.checkpointId, checkpoint_map: null },
      metadata: {
        regenerate_from_message_id: answerId,
        regenerate_from_run_id: runId,
        regenerate_checkpoint_id: before?.checkpointId,
      },
      target_run_id: runId,
    });

    const { input, checkpoint, metadata } = body as Record<string, unknown>;
    const script = await newRun(threadId, { input, checkpoint, metadata });
    expect((await api.stores.runs.load(script.runId))?.options.checkpointId).toBe(before?.checkpointId);
    const page = await get<Page>(`/api/threads/${threadId}/messages/page`);
    expect(page.data.some((row) => row.run_id === runId)).toBe(false);
  });

  it('works for the first turn of a thread that a run made', async () => {
    const answer = await api.request('POST', '/api/runs', { input: { messages: 'hi' } });
    const { run_id: runId, thread_id: threadId } = answer.body as RunRecord;
    const script = await scriptRun(api.stores, runId);
    await script.begin('q');
    const answerId = await script.reply('a');
    await script.finish();
    expect((await prepare(threadId, { message_id: answerId })).status).toBe(200);
  });

  it('is for the newest answer only', async () => {
    const threadId = await newThread();
    const { answerId } = await turn(threadId, 'q1', 'a1');
    await turn(threadId, 'q2', 'a2');
    expect(await prepare(threadId, { message_id: answerId })).toMatchObject({
      status: 409,
      body: { detail: 'Only the latest assistant message can be regenerated' },
    });
    expect(await prepare(threadId, { message_id: 'nope' })).toMatchObject({
      status: 404,
      body: { detail: 'Message nope not found' },
    });
  });
});

describe('editing the newest question', () => {
  const prepare = (threadId: string, id: string, text: string) =>
    api.request('POST', `/api/threads/${threadId}/runs/edit-regenerate/prepare`, {
      human_message_id: id,
      replacement_text: text,
    });

  it('gives a request with the new text in its place', async () => {
    const threadId = await newThread();
    const { runId, questionId, answerId } = await turn(threadId, 'q', 'a');
    const { body } = await prepare(threadId, `${questionId}__user`, 'better');
    const { replacement_human_message_id: newId } = body as { replacement_human_message_id: string };
    expect(newId).not.toBe(questionId);
    expect(body).toMatchObject({
      input: { messages: [{ type: 'human', id: newId, content: [{ type: 'text', text: 'better' }] }] },
      metadata: {
        replay_kind: 'edit',
        regenerate_from_run_id: runId,
        edit_from_message_id: questionId,
        edit_message_id: newId,
        edit_version_group_id: questionId,
      },
      target_run_id: runId,
      source_message_ids: [questionId, answerId],
    });
  });

  it('is refused without a new text, for an earlier question, with a goal and after a failure', async () => {
    const threadId = await newThread();
    const first = await turn(threadId, 'q1', 'a1');
    const { questionId } = await turn(threadId, 'q2', 'a2');
    for (const text of ['', '  ', 'q2']) expect((await prepare(threadId, questionId, text)).status).toBe(409);
    expect((await prepare(threadId, first.questionId, 'x')).status).toBe(409);
    expect((await prepare(threadId, 'nope', 'x')).status).toBe(404);
    await api.request('POST', `/api/threads/${threadId}/state`, { values: { goal: { objective: 'x' } } });
    expect(await prepare(threadId, questionId, 'x')).toMatchObject({
      status: 409,
      body: { detail: 'Cannot edit while a goal is active' },
    });
    await api.request('POST', `/api/threads/${threadId}/state`, { values: { goal: null } });
    const script = await newRun(threadId);
    const failed = await script.begin('q3');
    await script.reply('a3');
    await script.finish('error');
    expect((await prepare(threadId, failed, 'x')).status).toBe(409);
  });
});

describe('branching', () => {
  const branch = (threadId: string, body: object) => api.request('POST', `/api/threads/${threadId}/branches`, body);

  it('from the newest answer copies the conversation and its files', async () => {
    const threadId = await newThread();
    const { answerId } = await turn(threadId, 'q', 'a');
    const outputs = (id: string): string => join(api.home, 'users', 'alice', 'threads', id, 'user-data', 'outputs');
    await mkdir(outputs(threadId), { recursive: true });
    await writeFile(join(outputs(threadId), 'report.md'), 'words');

    const answer = await branch(threadId, { message_id: answerId, message_ids: [answerId], title: 'Other way' });
    expect(answer.status).toBe(200);
    const { thread_id: branchId } = answer.body as { thread_id: string };
    expect(answer.body).toEqual({
      thread_id: expect.any(String) as unknown,
      parent_thread_id: threadId,
      parent_checkpoint_id: (await api.stores.log.head(threadId))?.checkpointId,
      branched_from_message_id: answerId,
      workspace_clone_mode: 'current_thread_best_effort',
      history_seed_mode: 'seeded',
    });
    expect(await readFile(join(outputs(branchId), 'report.md'), 'utf8')).toBe('words');
    const thread = await get<{ metadata: object; values: object }>(`/api/threads/${branchId}`);
    expect(thread.metadata).toMatchObject({ deerflow_branch: true, branch_parent_thread_id: threadId });
    expect(thread.values).toMatchObject({ title: 'Other way', messages: [{ content: 'q' }, { content: 'a' }] });
    expect(await get(`/api/threads/${branchId}/state`)).toMatchObject({ values: { title: 'Other way' } });
  });

  it('from an earlier answer ends there, without files of later turns', async () => {
    const threadId = await newThread();
    const { answerId } = await turn(threadId, 'q1', 'a1');
    await turn(threadId, 'q2', 'a2');
    const { body } = await branch(threadId, { message_id: answerId });
    expect(body).toMatchObject({ workspace_clone_mode: 'skipped_historical_turn' });
    const { thread_id: branchId } = body as { thread_id: string };
    expect(texts((await get<Page>(`/api/threads/${branchId}/messages/page`)).data)).toEqual(['q1', 'a1']);
    const { body: history } = await api.request('POST', `/api/threads/${branchId}/history`, { limit: 1 });
    expect(history).toMatchObject([{ values: { messages: [{ content: 'q1' }, { content: 'a1' }] } }]);
    // The branch goes on by itself: its next answers are its own.
    const next = await turn(branchId, 'q3', 'a3');
    expect((await branch(branchId, { message_id: next.answerId })).status).toBe(200);
    const copied = (await get<Page>(`/api/threads/${branchId}/messages/page`)).data[1]?.content['id'];
    expect((await branch(branchId, { message_id: copied })).status).toBe(200);
  });

  it('is for answers of main conversations only', async () => {
    const threadId = await newThread();
    const { questionId } = await turn(threadId, 'q', 'a');
    for (const id of ['nope', questionId]) {
      expect(await branch(threadId, { message_id: id })).toMatchObject({
        status: 409,
        body: { detail: 'This turn can no longer be branched from.' },
      });
    }
    await api.request('PATCH', `/api/threads/${threadId}`, { metadata: { deerflow_sidecar: true } });
    expect(await branch(threadId, { message_id: 'x' })).toMatchObject({
      status: 409,
      body: { detail: 'Branching is only available in the main conversation.' },
    });
  });
});
