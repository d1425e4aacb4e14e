import { randomUUID } from 'node:crypto';
import type { RunRecord } from '../../../contracts';
import type { Answer, ApiHarness } from '../../support/api-harness';
import { startApiHarness } from '../../support/api-harness';
import { scriptRun } from '../../support/run-script';

let api: ApiHarness;
beforeAll(async () => {
  api = await startApiHarness();
});
afterAll(() => api.close());

async function newThread(): Promise<string> {
  const threadId = randomUUID();
  await api.request('POST', '/api/threads', { thread_id: threadId });
  return threadId;
}

const HELLO = { input: { messages: [{ role: 'user', content: 'hello' }] } };

function create(threadId: string, body: object = {}, headers?: Record<string, string>): Promise<Answer> {
  return api.request('POST', `/api/threads/${threadId}/runs`, { ...HELLO, ...body }, headers);
}

const record = (answer: Answer): RunRecord => answer.body as RunRecord;

async function runsOf(threadId: string): Promise<RunRecord[]> {
  return (await api.request('GET', `/api/threads/${threadId}/runs`)).body as RunRecord[];
}

describe('a background run', () => {
  it('is answered with its record and handed to Temporal', async () => {
    const threadId = await newThread();
    const answer = await create(threadId, { metadata: { colour: 'red' } });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      thread_id: threadId,
      assistant_id: 'lead_agent',
      status: 'pending',
      metadata: { colour: 'red' },
      kwargs: { input: HELLO.input, config: null },
      multitask_strategy: 'reject',
      total_tokens: 0,
      llm_call_count: 0,
      stop_reason: null,
    });
    const { run_id: runId } = record(answer);
    expect(answer.headers.get('content-location')).toBe(`/api/threads/${threadId}/runs/${runId}`);
    expect(api.gateway.started).toContain(runId);
  });

  it('stores messages in their whole form, each with an id', async () => {
    const threadId = await newThread();
    const sent = [{ type: 'human', content: 'a', id: 'mine', additional_kwargs: { run_id: 'x', files: [] } }, 'b'];
    const { run_id: runId } = record(await create(threadId, { input: { messages: sent, title: 'T', nope: 1 } }));
    const { options } = (await api.stores.runs.load(runId)) ?? {};
    expect(options?.messages).toMatchObject([
      { type: 'human', id: 'mine', content: 'a', additional_kwargs: { files: [] } },
      { type: 'human', id: expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown, content: 'b' },
    ]);
    expect(options?.messages[0]?.additional_kwargs).toEqual({ files: [] });
    expect(options?.channels).toEqual({ title: 'T' });
  });

  it('is accepted while Temporal is away, so that nothing is lost', async () => {
    const threadId = await newThread();
    api.gateway.failWith = new Error('Temporal is away');
    const waiting = create(threadId);
    while ((await runsOf(threadId)).length === 0) await new Promise((wake) => setTimeout(wake, 20));
    api.gateway.failWith = null;
    const answer = await waiting;
    expect(answer.status).toBe(200);
    expect(api.gateway.started).toContain(record(answer).run_id);
  });

  it('of an unknown thread is not found, unless the request says that the thread is to be made', async () => {
    const threadId = randomUUID();
    expect(await create(threadId)).toMatchObject({ status: 404, body: { detail: `Thread ${threadId} not found` } });
    expect((await create(threadId, { if_not_exists: 'reject' })).status).toBe(404);
    expect((await api.request('GET', `/api/threads/${threadId}`)).status).toBe(404);
    expect((await create(threadId, { if_not_exists: 'create' })).status).toBe(200);
    expect((await api.request('GET', `/api/threads/${threadId}`)).body).toMatchObject({ status: 'busy' });
  });

  it('of a thread that belongs to somebody else is not found, also when it is to be made', async () => {
    const threadId = await newThread();
    for (const body of [{}, { if_not_exists: 'create' }]) {
      expect((await create(threadId, body, { 'x-test-owner': 'bob' })).status).toBe(404);
    }
    expect(await runsOf(threadId)).toEqual([]);
  });

  it('may be put off: it is pending until its time', async () => {
    const threadId = await newThread();
    const before = Date.now();
    const { run_id: runId } = record(await create(threadId, { after_seconds: 60 }));
    const row = await api.stores.runs.load(runId);
    expect(Date.parse(row?.availableAt ?? '') - before).toBeGreaterThan(58_000);
    expect(row?.status).toBe('pending');
  });
});

describe('a busy thread', () => {
  it('takes exactly one of twenty runs that come at once', async () => {
    const threadId = await newThread();
    const answers = await Promise.all(Array.from({ length: 20 }, () => create(threadId)));
    const statuses = answers.map((answer) => answer.status).toSorted();
    expect(statuses).toEqual([200, ...Array.from({ length: 19 }, () => 409)]);
    expect(answers.find(({ status }) => status === 409)?.body).toEqual({
      detail: `Thread ${threadId} already has an active run`,
    });
    expect(await runsOf(threadId)).toHaveLength(1);
  });

  it('gives way to a run that interrupts: the first is told to cancel, the second waits for its end', async () => {
    const threadId = await newThread();
    const first = record(await create(threadId)).run_id;
    const script = await scriptRun(api.stores, first);
    await script.begin();
    const second = record(await create(threadId, { multitask_strategy: 'interrupt' })).run_id;
    expect(api.gateway.cancelled).toContainEqual({ runId: first, action: 'interrupt' });
    expect(api.gateway.started).not.toContain(second);
    await script.finish('interrupted');
    expect(await api.stores.runs.load(second)).toMatchObject({ admission: 'active', status: 'pending' });
  });

  it('forgets the run that a rollback replaces', async () => {
    const threadId = await newThread();
    const first = record(await create(threadId)).run_id;
    const script = await scriptRun(api.stores, first);
    await script.begin('forget me');
    await create(threadId, { multitask_strategy: 'rollback' });
    expect(api.gateway.cancelled).toContainEqual({ runId: first, action: 'rollback' });
    await script.rollBack();
    const { body } = await api.request('GET', `/api/threads/${threadId}/runs/${first}`);
    expect(body).toMatchObject({ status: 'error', error: { message: 'Rolled back by user' } });
    const state = await api.request('GET', `/api/threads/${threadId}/state`);
    expect(state.body).toMatchObject({ values: { messages: [] } });
  });

  it('lets runs wait in line, and says when the line is full', async () => {
    const threadId = await newThread();
    await create(threadId);
    for (let place = 0; place < 20; place += 1) {
      expect((await create(threadId, { multitask_strategy: 'enqueue' })).status).toBe(200);
    }
    expect((await create(threadId, { multitask_strategy: 'enqueue' })).status).toBe(409);
    expect(await runsOf(threadId)).toHaveLength(21);
  });

  it('is busy for state writes and deletion too', async () => {
    const threadId = await newThread();
    await create(threadId);
    const write = await api.request('POST', `/api/threads/${threadId}/state`, { values: { title: 'q' } });
    expect(write).toMatchObject({
      status: 409,
      body: { detail: 'Thread has a run in flight. Update state after the run finishes.' },
    });
    const deletion = await api.request('DELETE', `/api/threads/${threadId}`);
    expect(deletion).toMatchObject({
      status: 409,
      body: { detail: 'Thread has work in flight. Delete it after the work finishes.' },
    });
  });
});

describe('an idempotency key', () => {
  const key = { 'idempotency-key': 'again' };

  it('makes one run of many equal requests, however they are asked for', async () => {
    const threadId = await newThread();
    const answers = await Promise.all(Array.from({ length: 5 }, () => create(threadId, {}, key)));
    expect(new Set(answers.map((answer) => record(answer).run_id)).size).toBe(1);
    const { run_id: runId } = record(answers[0] as Answer);
    expect(api.gateway.started.filter((one) => one === runId)).toHaveLength(1);
    await (await scriptRun(api.stores, runId)).finish();
    const wait = await api.request('POST', `/api/threads/${threadId}/runs/wait`, HELLO, key);
    expect(wait).toMatchObject({ status: 200, body: { status: 'success', error: null } });
  });

  it('is refused for another input, but not for another order of keys', async () => {
    const threadId = await newThread();
    const message = { role: 'user', content: 'hello' };
    await create(threadId, { input: { messages: [message], title: 'a' } }, key);
    expect((await create(threadId, { input: { title: 'a', messages: [message] } }, key)).status).toBe(200);
    const other = await create(threadId, { input: { messages: [{ ...message, content: 'bye' }] } }, key);
    expect(other.status).toBe(409);
  });

  it('longer than 255 characters is refused', async () => {
    const threadId = await newThread();
    const answer = await create(threadId, {}, { 'idempotency-key': 'x'.repeat(256) });
    expect(answer.status).toBe(422);
    expect(await runsOf(threadId)).toEqual([]);
  });
});

describe('a run without a thread', () => {
  it('makes its thread and says where it is', async () => {
    const answer = await api.request('POST', '/api/langgraph/runs', HELLO);
    const { thread_id: threadId, run_id: runId } = record(answer);
    expect(answer.headers.get('content-location')).toBe(`/api/threads/${threadId}/runs/${runId}`);
    expect((await api.request('GET', `/api/threads/${threadId}/state`)).status).toBe(200);
  });

  it('goes on in the thread that its configuration names, if that is its own', async () => {
    const threadId = await newThread();
    const body = { ...HELLO, config: { configurable: { thread_id: threadId } } };
    expect(record(await api.request('POST', '/api/runs', body)).thread_id).toBe(threadId);
    expect((await api.request('POST', '/api/runs', body, { 'x-test-owner': 'bob' })).status).toBe(404);
  });
});

describe('secrets of a request', () => {
  const secret = 'hunter2-hunter2';

  it('reach the sealed store and no other place', async () => {
    const threadId = await newThread();
    const answer = await create(threadId, {
      context: { secrets: { API_KEY: secret }, model_name: 'demo', github_token: secret, user_id: 'root' },
      config: { context: { secrets: { OTHER: secret } }, configurable: { auth_token: secret, __x: 1 } },
    });
    const { run_id: runId } = record(answer);
    expect(answer.text).not.toContain(secret);
    expect(await api.stores.secrets.open(runId)).toEqual({ API_KEY: secret, OTHER: secret });
    const { rows } = await api.database.database.pool.query('select row_to_json(r)::text as text from runs r');
    expect(JSON.stringify(rows)).not.toContain(secret);
    expect((await api.stores.runs.load(runId))?.options.context).toEqual({ model_name: 'demo' });
    await (await scriptRun(api.stores, runId)).finish();
    expect(await api.stores.secrets.open(runId)).toEqual({});
  });

  it('of a refused request are not kept', async () => {
    const threadId = await newThread();
    await create(threadId);
    const before = await api.database.database.pool.query('select count(*) as count from run_secrets');
    expect((await create(threadId, { context: { secrets: { K: secret } } })).status).toBe(409);
    const after = await api.database.database.pool.query('select count(*) as count from run_secrets');
    expect(after.rows).toEqual(before.rows);
  });

  it('are not repeated in the fault of a request that carries them', async () => {
    const threadId = await newThread();
    const body = { context: { secrets: { K: secret } }, config: { configurable: { thread_id: 'a b' } } };
    const answer = await create(threadId, body);
    expect(answer.status).toBe(422);
    expect(answer.text).not.toContain(secret);
  });
});
