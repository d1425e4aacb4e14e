import type { RunRecord } from '../../contracts';
import { fail, hang, say } from '../support/fake-model';
import { unknownId, useProduct } from '../e2e/acceptance/scenario';
import { expectSoundRun } from '../support/product/invariants';

/** Pressing Stop a second time was answered with a conflict. */
const used = useProduct();
const { api, script, run, start, get } = used;

function cancel(threadId: string, runId: string, query = '') {
  return api.request('POST', `/api/threads/${threadId}/runs/${runId}/cancel${query}`).then(({ status }) => status);
}

async function hanging(): Promise<[threadId: string, runId: string]> {
  const asked = used.model.requests.length;
  script(hang(30_000));
  const threadId = await api.newThread();
  const { run_id: runId } = await start(threadId, 'go');
  await used.model.waitForRequests(asked + 1);
  return [threadId, runId];
}

test('Stop can be pressed any number of times, one after the other, and the run is interrupted once', async () => {
  const [threadId, runId] = await hanging();
  expect([await cancel(threadId, runId), await cancel(threadId, runId)]).toEqual([202, 202]);
  expect((await api.ended(threadId, runId)).status).toBe('interrupted');
  expect(await cancel(threadId, runId)).toBe(202);
  expect(await cancel(threadId, runId, '?wait=true')).toBe(204);
  await expectSoundRun(used.product.pool, runId);
});

test('Stop can be pressed many times at the same moment', async () => {
  const [threadId, runId] = await hanging();
  const queries = ['', '?wait=true', '', '?wait=1', '?action=rollback'];
  const statuses = await Promise.all(queries.map((query) => cancel(threadId, runId, query)));
  expect(statuses).toEqual([202, 204, 202, 204, 202]);
  await expectSoundRun(used.product.pool, runId);
});

test('Stop is refused for a run that has succeeded or failed, saying which, and for one that does not exist', async () => {
  script(say('ok'), fail(400));
  const threadId = await api.newThread();
  for (const status of ['success', 'error']) {
    const { run_id: runId } = await run(threadId, 'go');
    const answer = await api.request('POST', `/api/threads/${threadId}/runs/${runId}/cancel`);
    expect(answer.status).toBe(409);
    expect(answer.body).toEqual({ detail: expect.stringContaining(`(status: ${status})`) });
    expect((await get<RunRecord>(`/api/threads/${threadId}/runs/${runId}`)).status).toBe(status);
  }
  expect(await cancel(threadId, unknownId())).toBe(404);
});
