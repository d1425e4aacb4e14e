import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ask } from '../support/product';
import { call, say } from '../support/fake-model';
import { until, useProduct } from '../e2e/acceptance/scenario';
import { expectSoundRun } from '../support/product/invariants';

/** A process died in the middle of a run, which stayed "running" for ever and blocked its thread. */
const used = useProduct();
const { api, script, run, start } = used;

test('a run whose worker dies ends by itself, under its own id, and nothing is done twice', async () => {
  script(call('bash', { command: 'echo A >> log; sleep 5; echo B >> log' }, 'c1'), say('done'));
  const threadId = await api.newThread();
  const { run_id: runId } = await start(threadId, 'go');
  const log = join(used.product.home, 'users/default/threads', threadId, 'user-data/workspace/log');
  const written = () => readFile(log, 'utf8').catch(() => '');
  await until(async () => (await written()) === 'A\n', 'the first effect of the command');
  await used.product.workers[0]?.kill();

  const meanwhile = await api.request('POST', `/api/threads/${threadId}/runs`, ask('again'));
  expect(meanwhile).toMatchObject({ status: 409, body: { detail: `Thread ${threadId} already has an active run` } });

  await used.product.startWorker();
  expect((await api.ended(threadId, runId)).status).toBe('success');
  expect(await expectSoundRun(used.product.pool, runId)).toMatchObject({ llm_call_count: 2 });
  expect(used.model.requests).toHaveLength(2);
  const results = (await api.values(threadId)).messages.filter((message) => message['tool_call_id'] === 'c1');
  expect(results).toHaveLength(1);
  expect((await written()).match(/A/g)).toHaveLength(1);
  expect(results[0]?.content).toContain('the worker stopped while this tool was running');

  script(say('still here'));
  expect((await run(threadId, 'and now?')).status).toBe('success');
  used.model.assertClean();
});
