import { call, calls, hang, say } from '../support/fake-model';
import { until, useProduct } from '../e2e/acceptance/scenario';
import { expectSoundRun } from '../support/product/invariants';

/** One of several tool calls had no result, and strict providers refused every later request of the thread. */
const used = useProduct();
const { api, script, run, start } = used;

/** The results that the newest request tells the model of, by the id of the call. */
function toldResults(): Map<string, string> {
  const messages = used.model.requests.at(-1)?.body.messages ?? [];
  return new Map(
    messages
      .filter(({ role }) => role === 'tool')
      .map(({ tool_call_id: id, content }) => [String(id), String(content)]),
  );
}

test('calls that a Stop cut off are answered as cancelled, finished ones keep their result, and the thread goes on', async () => {
  const commands = ['echo 1', 'sleep 60', 'echo 3'];
  script(calls(commands.map((command, index) => ({ tool: 'bash', args: { command }, id: `c${index + 1}` }))));
  const threadId = await api.newThread();
  const { run_id: runId } = await start(threadId, 'go');
  const done = async () => {
    const { rows } = await used.product.pool.query<{ id: string }>(
      "select tool_call_id as id from tool_calls where run_id = $1 and state = 'done' order by 1",
      [runId],
    );
    return rows.map(({ id }) => id).join();
  };
  await until(async () => (await done()) === 'c1,c3', 'the quick commands');
  await api.request('POST', `/api/threads/${threadId}/runs/${runId}/cancel?wait=true`);
  expect(await expectSoundRun(used.product.pool, runId)).toMatchObject({ status: 'interrupted' });

  script(say('ok'));
  expect((await run(threadId, 'go on')).status).toBe('success');
  const told = toldResults();
  expect([...told.keys()]).toEqual(['c1', 'c2', 'c3']);
  expect(told.get('c1')).toMatch(/^1/);
  expect(told.get('c2')).toContain('cancelled');
  expect(told.get('c3')).toMatch(/^3/);
  used.model.assertClean();
});

test('the same holds when the Stop comes while the model answers, and when a client wrote the open call itself', async () => {
  script(call('ls', { path: '/mnt/user-data/workspace' }, 'c1'), hang(60_000));
  const threadId = await api.newThread();
  const { run_id: runId } = await start(threadId, 'go');
  await used.model.waitForRequests(2);
  await api.request('POST', `/api/threads/${threadId}/runs/${runId}/cancel?wait=true`);
  script(say('ok'));
  expect((await run(threadId, 'go on')).status).toBe('success');

  const open = { type: 'ai', content: '', tool_calls: [{ id: 'c9', name: 'ls', args: {} }] };
  const orphan = { type: 'tool', content: 'nobody asked', tool_call_id: 'c8', name: 'ls' };
  script(say('ok'));
  const input = { messages: [open, orphan, { role: 'user', content: 'and now?' }] };
  const { run_id: nextId } = await start(threadId, '', { input });
  expect((await api.ended(threadId, nextId)).status).toBe('success');
  expect([...toldResults().keys()]).toEqual(['c1', 'c9']);
  used.model.assertClean();
});
