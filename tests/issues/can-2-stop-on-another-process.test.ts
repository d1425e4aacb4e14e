import type { RunRecord } from '../../contracts';
import { hang, say } from '../support/fake-model';
import { ask, createApiClient } from '../support/product';
import { texts, useProduct } from '../e2e/acceptance/scenario';

/** With several processes, Stop that reached the wrong one was refused, and the thread stayed busy. */
const used = useProduct({ apis: 2, workers: 2 });

const LONGEST_STOP_MS = 5_000;

test('a run that was started on one process can be stopped on another, and the thread is free at once', async () => {
  const [here, there] = used.product.apis.map(({ url }) => createApiClient(() => url));
  if (here === undefined || there === undefined) throw new Error('two processes are needed');
  used.script(hang(30_000), say('ok'));
  const threadId = await here.newThread();
  const { body: run } = await here.request<RunRecord>('POST', `/api/threads/${threadId}/runs`, ask('go'));
  await used.model.waitForRequests(1);

  const stopped = Date.now();
  expect((await there.request('POST', `/api/threads/${threadId}/runs/${run.run_id}/cancel`)).status).toBe(202);
  expect((await there.ended(threadId, run.run_id)).status).toBe('interrupted');
  expect(Date.now() - stopped).toBeLessThan(LONGEST_STOP_MS);

  const next = await there.request<RunRecord>('POST', `/api/threads/${threadId}/runs`, ask('and now?'));
  expect(next.status).toBe(200);
  expect((await here.ended(threadId, next.body.run_id)).status).toBe('success');
  expect(texts(await here.values(threadId))).toEqual(['go', 'and now?', 'ok']);
  used.model.assertClean();
});
