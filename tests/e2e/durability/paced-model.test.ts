import { say } from '../../support/fake-model';
import { until, useProduct } from '../acceptance/scenario';

const INTERVAL_MS = 1_000;
const used = useProduct({
  workers: 3,
  modelKeys: {
    request_admission: { requests_per_minute: 60_000 / INTERVAL_MS, group: 'account', max_queue_size: 4 },
  },
});
const { api, start } = used;

const waiting = async (): Promise<number> => {
  const { rows } = await used.product.pool.query<{ count: number }>('select count(*)::int from model_waiters');
  return rows[0]?.count ?? 0;
};

test('runs of three workers share the pace of a model, also when one of the workers is killed while it waits', async () => {
  used.model.script('default', [say('one'), say('two'), say('three'), say('four')]);
  const runs: Array<{ threadId: string; runId: string }> = [];
  for (const text of ['a', 'b', 'c', 'd']) {
    const threadId = await api.newThread();
    const { run_id: runId } = await start(threadId, text);
    runs.push({ threadId, runId });
  }
  await until(async () => (await waiting()) === 3, 'three calls to wait');
  // Whichever calls wait in it have to be asked for again by others.
  await used.product.workers[0]?.kill();
  for (const { threadId, runId } of runs) expect((await api.ended(threadId, runId)).status).toBe('success');
  const times = used.model.requests.map(({ at }) => at);
  expect(times).toHaveLength(4);
  const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0));
  // The request itself may be on its way a little longer once and a little shorter the next time.
  for (const gap of gaps) expect(gap).toBeGreaterThan(INTERVAL_MS - 100);
  expect(await waiting()).toBe(0);
  used.model.assertClean();
});

test('a run whose call finds the queue full ends with the reason, and the model is not asked', async () => {
  used.model.script(
    'default',
    Array.from({ length: 5 }, () => say('ok')),
  );
  const threads: string[] = [];
  for (let index = 0; index < 5; index += 1) {
    const threadId = await api.newThread();
    await start(threadId, 'go');
    threads.push(threadId);
  }
  await until(async () => (await waiting()) === 4, 'the queue to be full');
  const threadId = await api.newThread();
  const { run_id: runId } = await start(threadId, 'one too many');
  const ended = await api.ended(threadId, runId);
  expect(ended).toMatchObject({ status: 'error', error: { code: 'model_admission' } });
  const asked = used.model.requests.map(({ body }) => JSON.stringify(body.messages));
  expect(asked.filter((text) => text.includes('one too many'))).toEqual([]);
  await Promise.all(
    threads.map(async (thread) => {
      await until(async () => (await api.values(thread)).messages.length > 1, 'its answer', 20_000);
    }),
  );
});

test('a run that is stopped while its call waits ends at once, and the model is not asked for it', async () => {
  used.model.script('default', [say('ok'), say('ok')]);
  const [first, second] = [await api.newThread(), await api.newThread()];
  await start(first, 'goes');
  const { run_id: runId } = await start(second, 'stopped in the queue');
  await until(async () => (await waiting()) === 1, 'its call to wait');
  await api.request('POST', `/api/threads/${second}/runs/${runId}/cancel`);
  expect((await api.ended(second, runId)).status).toBe('interrupted');
  await until(async () => (await waiting()) === 0, 'the queue to be empty');
  const asked = used.model.requests.map(({ body }) => JSON.stringify(body.messages));
  expect(asked.filter((text) => text.includes('stopped in the queue'))).toEqual([]);
});
