import type { JsonObject, RunRecord } from '../../../contracts';
import { hang, say } from '../../support/fake-model';
import { ask, createApiClient } from '../../support/product';
import type { ApiClient } from '../../support/product';
import { expectSoundRun } from '../../support/product/invariants';
import { texts, unknownId, until, useProduct } from './scenario';

const used = useProduct({ apis: 2 });
const { api, script, run, start, get } = used;

const FOREVER = hang(60_000);

function clients(): ApiClient[] {
  return used.product.apis.filter(({ running }) => running).map(({ url }) => createApiClient(() => url));
}

async function countRuns(): Promise<number> {
  const { rows } = await used.product.pool.query<{ count: number }>('select count(*)::int as count from runs');
  return rows[0]?.count ?? 0;
}

async function countThreads(): Promise<number> {
  const { rows } = await used.product.pool.query<{ count: number }>('select count(*)::int as count from threads');
  return rows[0]?.count ?? 0;
}

function create(threadId: string, extra: JsonObject, headers: Record<string, string> = {}, client: ApiClient = api) {
  return client.request<RunRecord & { detail: unknown }>(
    'POST',
    `/api/threads/${threadId}/runs`,
    ask('hello', extra),
    headers,
  );
}

describe('a request that cannot be honoured', () => {
  const option = (name: string) => ({ type: 'unsupported_run_option', loc: ['body', name], ctx: { option: name } });
  const cases: Array<[string, JsonObject, number, unknown]> = [
    ['feedback keys', { feedback_keys: [] }, 422, option('feedback_keys')],
    ['something to do on completion', { on_completion: 'complete' }, 422, option('on_completion')],
    ['a webhook over ftp', { webhook: 'ftp://example.com/x' }, 422, { loc: ['body', 'webhook'] }],
    ['a start in the past', { after_seconds: -1 }, 422, { loc: ['body', 'after_seconds'] }],
    ['an unknown rule for unknown threads', { if_not_exists: 'maybe' }, 422, { loc: ['body', 'if_not_exists'] }],
    ['an unknown strategy', { multitask_strategy: 'queue' }, 422, { loc: ['body', 'multitask_strategy'] }],
    ['a resumable stream, in words', { stream_resumable: 'yes' }, 422, { loc: ['body', 'stream_resumable'] }],
    [
      'a stream mode that does not exist',
      { stream_mode: ['values', 'events'] },
      422,
      { type: 'unsupported_stream_mode', loc: ['body', 'stream_mode'], ctx: { modes: 'events' } },
    ],
    [
      'an option of another product',
      { durability: 'sync' },
      422,
      { type: 'extra_forbidden', loc: ['body', 'durability'] },
    ],
    ['a secret in its metadata', { metadata: { auth_token: 'x' } }, 422, {}],
  ];

  test.each(cases)('%s: is refused, and no run is stored', async (_what, extra, status, item) => {
    const threadId = await api.newThread();
    const before = await countRuns();
    const answer = await create(threadId, extra);
    expect(answer.status).toBe(status);
    expect(answer.body.detail).toEqual([expect.objectContaining(item)]);
    expect(await countRuns()).toBe(before);
    expect(used.model.requests).toHaveLength(0);
  });

  test('for a run without a thread: no thread is made either', async () => {
    const before = await countThreads();
    for (const path of ['/api/runs', '/api/runs/wait', '/api/runs/stream']) {
      const answer = await api.request('POST', path, ask('hello', { metadata: { auth_token: 'x' } }));
      expect(answer.status).toBe(422);
      expect(JSON.stringify(answer.body)).not.toContain('"x"');
    }
    expect(await countThreads()).toBe(before);
  });

  test('for a thread that must exist: an unknown one stays unknown', async () => {
    const threadId = unknownId();
    expect((await create(threadId, { if_not_exists: 'reject' })).status).toBe(404);
    expect((await api.request('GET', `/api/threads/${threadId}`)).status).toBe(404);
  });

  test('for a model that is not offered, or a checkpoint of another thread or of none', async () => {
    script(say('ok'));
    const [threadId, other] = [await api.newThread(), await api.newThread()];
    await run(other, 'hi');
    const { checkpoint_id: foreign } = await get<{ checkpoint_id: string }>(`/api/threads/${other}/state`);
    const before = await countRuns();
    const asked = [
      await create(threadId, { context: { model_name: 'ghost' } }),
      await create(threadId, { checkpoint: { thread_id: other, checkpoint_id: foreign } }),
      await create(threadId, { checkpoint_id: foreign }),
      await create(threadId, { checkpoint_id: unknownId() }),
    ];
    expect(asked.map(({ status }) => status)).toEqual([400, 400, 404, 404]);
    expect(asked[0]?.body.detail).toBe("Model 'ghost' is not in the configured model allowlist");
    expect(asked[1]?.body.detail).toBe('checkpoint thread_id does not match request thread_id');
    expect(await countRuns()).toBe(before);
  });
});

describe('a thread that is busy', () => {
  test('takes exactly one of twenty runs that two processes are asked for at once', async () => {
    script(FOREVER);
    const threadId = await api.newThread();
    const [first, second] = clients();
    const asked = await Promise.all(
      Array.from({ length: 20 }, (_, index) => create(threadId, {}, {}, index % 2 === 0 ? first : second)),
    );
    const accepted = asked.filter(({ status }) => status === 200);
    expect(accepted).toHaveLength(1);
    const refused = asked.filter(({ status }) => status === 409);
    expect(refused).toHaveLength(19);
    expect(refused.every(({ body }) => body.detail === `Thread ${threadId} already has an active run`)).toBe(true);
    expect(await get<RunRecord[]>(`/api/threads/${threadId}/runs`)).toHaveLength(1);
    const runId = accepted[0]?.body.run_id ?? '';
    await used.model.waitForRequests(1);
    await api.request('POST', `/api/threads/${threadId}/runs/${runId}/cancel?wait=true`);
    await expectSoundRun(used.product.pool, runId);
    expect(used.model.requests).toHaveLength(1);
  });

  test('lets runs wait their turn, in order, and each sees what the one before it said', async () => {
    script(hang(700, say('first')), say('second'), say('third'));
    const threadId = await api.newThread();
    const first = await start(threadId, 'one');
    await used.model.waitForRequests(1);
    const [here, there] = clients();
    const second = await create(threadId, { multitask_strategy: 'enqueue' }, {}, here);
    const third = await create(threadId, { multitask_strategy: 'enqueue' }, {}, there);
    expect([second.body.status, third.body.status]).toEqual(['pending', 'pending']);
    const ended = [first, second.body, third.body].map(({ run_id: id }) => api.ended(threadId, id));
    expect((await Promise.all(ended)).map(({ status }) => status)).toEqual(['success', 'success', 'success']);
    expect(texts(await api.values(threadId))).toEqual(['one', 'first', 'hello', 'second', 'hello', 'third']);
    used.model.assertClean();
  });

  test('has room for twenty runs that wait, and says so to the next', async () => {
    script(FOREVER);
    const threadId = await api.newThread();
    const active = await start(threadId, 'one');
    await used.model.waitForRequests(1);
    const waiting = await Promise.all(
      Array.from({ length: 20 }, () => create(threadId, { multitask_strategy: 'enqueue' })),
    );
    expect(waiting.every(({ status }) => status === 200)).toBe(true);
    const oneMore = await create(threadId, { multitask_strategy: 'enqueue' });
    expect(oneMore).toMatchObject({ status: 409, body: { detail: expect.stringContaining('20 runs waiting') } });

    for (const { body } of waiting) {
      const path = `/api/threads/${threadId}/runs/${body.run_id}/cancel?wait=true`;
      expect((await api.request('POST', path)).status).toBe(204);
      expect((await get<RunRecord>(`/api/threads/${threadId}/runs/${body.run_id}`)).status).toBe('interrupted');
    }
    await api.request('POST', `/api/threads/${threadId}/runs/${active.run_id}/cancel?wait=true`);
    expect(used.model.requests).toHaveLength(1);
  });

  test('gives way to a run that interrupts: it starts only after the first has ended', async () => {
    script(hang(60_000), say('second'));
    const threadId = await api.newThread();
    const first = await start(threadId, 'one');
    await used.model.waitForRequests(1);
    const second = await start(threadId, 'two', { multitask_strategy: 'interrupt' });
    expect((await api.ended(threadId, first.run_id)).status).toBe('interrupted');
    expect((await api.ended(threadId, second.run_id)).status).toBe('success');
    expect(texts(await api.values(threadId))).toEqual(['one', 'two', 'second']);
    const { rows } = await used.product.pool.query<{ order: boolean }>(
      `select (select ended_at from runs where run_id = $1) <= (select started_at from runs where run_id = $2) as order`,
      [first.run_id, second.run_id],
    );
    expect(rows[0]?.order).toBe(true);
    used.model.assertClean();
  });

  test('forgets the run that a rollback replaces', async () => {
    script(say('kept'), hang(60_000), say('second'));
    const threadId = await api.newThread();
    await run(threadId, 'zero');
    const first = await start(threadId, 'one');
    await used.model.waitForRequests(2);
    const second = await start(threadId, 'two', { multitask_strategy: 'rollback' });
    const ended = await api.ended(threadId, first.run_id);
    expect(ended).toMatchObject({ status: 'error', error: { message: 'Rolled back by user' } });
    expect((await api.ended(threadId, second.run_id)).status).toBe('success');
    expect(texts(await api.values(threadId))).toEqual(['zero', 'kept', 'two', 'second']);
    const asked = JSON.stringify(used.model.requests.at(-1)?.body.messages);
    expect(asked).toContain('kept');
    expect(asked).not.toContain('"one"');
    used.model.assertClean();
  });
});

describe('a run that is put off', () => {
  test('asks the model nothing before its time', async () => {
    script(say('ok'));
    const threadId = await api.newThread();
    const asked = Date.now();
    const { run_id: runId } = await start(threadId, 'later', { after_seconds: 2 });
    expect((await get<RunRecord>(`/api/threads/${threadId}/runs/${runId}`)).status).toBe('pending');
    expect((await api.ended(threadId, runId)).status).toBe('success');
    expect((used.model.requests[0]?.at ?? 0) - asked).toBeGreaterThanOrEqual(2_000);
  });

  test('keeps its time when the worker is killed meanwhile', async () => {
    script(say('ok'));
    const threadId = await api.newThread();
    const asked = Date.now();
    const { run_id: runId } = await start(threadId, 'later', { after_seconds: 3 });
    await used.product.workers.find(({ running }) => running)?.kill();
    await used.product.startWorker();
    expect((await api.ended(threadId, runId)).status).toBe('success');
    expect((used.model.requests[0]?.at ?? 0) - asked).toBeGreaterThanOrEqual(3_000);
    expect(used.model.requests).toHaveLength(1);
  });

  test('can be cancelled while it waits, which ends it at once', async () => {
    script();
    const threadId = await api.newThread();
    const { run_id: runId } = await start(threadId, 'later', { after_seconds: 3_600 });
    const path = `/api/threads/${threadId}/runs/${runId}`;
    const asked = Date.now();
    expect((await api.request('POST', `${path}/cancel?wait=true`)).status).toBe(204);
    expect(Date.now() - asked).toBeLessThan(3_000);
    expect((await get<RunRecord>(path)).status).toBe('interrupted');
    script(say('ok'));
    expect((await run(threadId, 'now')).status).toBe('success');
  });

  test('gives way at once to a run that interrupts', async () => {
    script(say('ok'));
    const threadId = await api.newThread();
    const later = await start(threadId, 'later', { after_seconds: 3_600 });
    const now = await start(threadId, 'now', { multitask_strategy: 'interrupt' });
    expect((await api.ended(threadId, now.run_id)).status).toBe('success');
    expect((await api.ended(threadId, later.run_id)).status).toBe('interrupted');
    expect(texts(await api.values(threadId))).toEqual(['now', 'ok']);
  });
});

describe('cancelling a run', () => {
  test('waits for its end if asked to, can be repeated, and is refused for a run that has succeeded', async () => {
    script(FOREVER);
    const threadId = await api.newThread();
    const { run_id: runId } = await start(threadId, 'go');
    await used.model.waitForRequests(1);
    const path = `/api/threads/${threadId}/runs/${runId}`;
    expect((await api.request('POST', `${path}/cancel?action=foo`)).status).toBe(422);
    expect((await api.request('POST', `${path}/cancel?wait=true`)).status).toBe(204);
    expect((await get<RunRecord>(path)).status).toBe('interrupted');
    expect((await api.request('POST', `${path}/cancel`)).status).toBe(202);
    await until(() => used.model.requests[0]?.abandoned === true, 'the model call to be given up');
    await expectSoundRun(used.product.pool, runId);

    script(say('ok'));
    const done = await run(threadId, 'again');
    const refused = await api.request('POST', `/api/threads/${threadId}/runs/${done.run_id}/cancel`);
    expect(refused).toMatchObject({
      status: 409,
      body: { detail: `Run ${done.run_id} is not cancellable (status: success)` },
    });
    expect((await api.request('POST', `/api/threads/${threadId}/runs/${unknownId()}/cancel`)).status).toBe(404);
  });
});

describe('an idempotency key', () => {
  const key = (value: string) => ({ 'idempotency-key': value });

  test('longer than 255 characters is refused', async () => {
    expect((await create(await api.newThread(), {}, key('k'.repeat(256)))).status).toBe(422);
  });

  test('sent twice gives the same run, and another input is a conflict', async () => {
    script(say('one'));
    const threadId = await api.newThread();
    const [first, again] = [await create(threadId, {}, key('a')), await create(threadId, {}, key('a'))];
    expect(again.body.run_id).toBe(first.body.run_id);
    await api.ended(threadId, first.body.run_id);
    const conflict = await api.request('POST', `/api/threads/${threadId}/runs`, ask('something else'), key('a'));
    expect(conflict.status).toBe(409);
    expect(used.model.requests).toHaveLength(1);
    used.model.assertClean();
  });
});
