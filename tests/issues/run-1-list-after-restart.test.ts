import type { JsonObject, RunRecord } from '../../contracts';
import { say } from '../support/fake-model';
import { createApiClient } from '../support/product';
import { useProduct } from '../e2e/acceptance/scenario';

/** After a restart the run list of a thread was empty: reads asked the memory of one process. */
const used = useProduct();

test('runs and messages are the same after the API was killed and started again, and on a process that never saw them', async () => {
  used.script(say('ok', { usage: [5, 2] }));
  const threadId = await used.api.newThread();
  const run = await used.run(threadId, 'hi');
  const read = async () => ({
    list: await used.get<RunRecord[]>(`/api/threads/${threadId}/runs`),
    single: await used.get<RunRecord>(`/api/threads/${threadId}/runs/${run.run_id}`),
    messages: await used.get<JsonObject[]>(`/api/threads/${threadId}/messages`),
  });
  const before = await read();
  await used.product.apis[0]?.kill();
  await used.product.startApi();
  expect(await read()).toEqual(before);

  const other = createApiClient(() => used.product.apis.at(-1)?.url ?? '');
  await used.product.startApi();
  const { body } = await other.request<RunRecord[]>('GET', `/api/threads/${threadId}/runs`);
  expect(body).toEqual(before.list);
  expect(before.single).toMatchObject({
    status: 'success',
    total_input_tokens: 5,
    total_output_tokens: 2,
    total_tokens: 7,
  });
  expect(before.messages.map(({ content }) => (content as JsonObject)['content'])).toEqual(['hi', 'ok']);
});
