import type { JsonObject, RunRecord } from '../../contracts';
import { hang, say } from '../support/fake-model';
import type { ApiClient } from '../support/product';
import { ask, createApiClient } from '../support/product';
import { lastText, lastValues, runIdOf, useProduct } from '../e2e/acceptance/scenario';

/** A client that sent a lost request again started two runs. */
const used = useProduct({ apis: 2 });
const { api, script } = used;

function post(client: ApiClient, threadId: string, key: string | null, body: JsonObject = ask('go')) {
  const headers: Record<string, string> = key === null ? {} : { 'idempotency-key': key };
  return client.request<RunRecord & { detail: unknown }>('POST', `/api/threads/${threadId}/runs`, body, headers);
}

function clients(): ApiClient[] {
  return used.product.apis.filter(({ running }) => running).map(({ url }) => createApiClient(() => url));
}

test('many equal requests with one key, at once and on two processes, are one run', async () => {
  script(hang(200, say('one')));
  const threadId = await api.newThread();
  const [here = api, there = api] = clients();
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) => post(index % 2 === 0 ? here : there, threadId, 'key')),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
  expect(new Set(answers.map(({ body }) => body.run_id)).size).toBe(1);
  await api.ended(threadId, answers[0]?.body.run_id ?? '');
  expect(used.model.requests).toHaveLength(1);
  used.model.assertClean();
});

test('the key is known after a restart, whatever way the run is asked for, and only for the same body', async () => {
  script(say('one'));
  const threadId = await api.newThread();
  const first = await post(api, threadId, 'key');
  await api.ended(threadId, first.body.run_id);
  await used.product.apis.find(({ running }) => running)?.kill();
  await used.product.startApi();

  expect((await post(api, threadId, 'key')).body.run_id).toBe(first.body.run_id);
  const headers = { 'idempotency-key': 'key' };
  const streamed = await api.stream({ path: `/api/threads/${threadId}/runs/stream`, body: ask('go'), headers });
  expect(runIdOf(streamed.frames)).toBe(first.body.run_id);
  expect(lastText(lastValues(streamed.frames))).toBe('one');
  const waited = await api.request('POST', `/api/threads/${threadId}/runs/wait`, ask('go'), headers);
  expect(waited).toMatchObject({ status: 200, body: { status: 'success' } });

  const other = await post(api, threadId, 'key', ask('something else'));
  expect(other.status).toBe(409);
  expect(other.body.detail).toBe('Idempotency-Key was used with a different request body');
  expect(used.model.requests).toHaveLength(1);
  used.model.assertClean();
});

test('without a key, and with another one or on another thread, equal requests are runs of their own', async () => {
  script(say('one'), say('two'), say('three'), say('four'));
  const [threadId, otherThread] = [await api.newThread(), await api.newThread()];
  const runs = [];
  for (const [thread, key] of [
    [threadId, null],
    [threadId, null],
    [threadId, 'a'],
    [otherThread, 'a'],
  ] as const) {
    const { body } = await post(api, thread, key);
    await api.ended(thread, body.run_id);
    runs.push(body.run_id);
  }
  expect(new Set(runs).size).toBe(4);
  expect(used.model.requests).toHaveLength(4);
});
