import type { JsonObject, RunRecord } from '../../contracts';
import { call, say } from '../support/fake-model';
import { useProduct } from '../e2e/acceptance/scenario';

/** Totals of a reply, of a run and of its thread disagreed, and calls for other things than the answer were missing. */
const used = useProduct({ models: ['namer'], config: { title: { model_name: 'namer' } } });
const { api, script, start, get } = used;

test('a run has the tokens of all its calls, a thread those of its runs, and a restart changes neither', async () => {
  const threadId = await api.newThread();
  for (const text of ['one', 'two']) {
    script(
      call('ls', { path: '/mnt/user-data/workspace' }, undefined, { usage: [10, 5] }),
      say('ok', { usage: [20, 8] }),
    );
    used.model.script('namer', [say('A title', { usage: [7, 3] })]);
    const { run_id: runId } = await start(threadId, text);
    expect((await api.ended(threadId, runId)).status).toBe('success');
  }
  const read = async () => ({
    runs: (await get<RunRecord[]>(`/api/threads/${threadId}/runs`)).toReversed(),
    usage: await get<JsonObject>(`/api/threads/${threadId}/token-usage`),
  });
  const { runs, usage } = await read();
  // The title is asked for once, after the first exchange.
  expect(runs).toEqual([
    expect.objectContaining({ total_tokens: 53, lead_agent_tokens: 43, middleware_tokens: 10, llm_call_count: 3 }),
    expect.objectContaining({ total_tokens: 43, lead_agent_tokens: 43, middleware_tokens: 0, llm_call_count: 2 }),
  ]);
  expect(usage).toMatchObject({ total_tokens: 96, total_input_tokens: 67, total_output_tokens: 29, total_runs: 2 });

  await used.product.apis[0]?.kill();
  await used.product.startApi();
  expect(await read()).toEqual({ runs, usage });
  const { messages } = await api.values(threadId);
  const shown = messages.map((message) => (message['usage_metadata'] as JsonObject | null)?.['total_tokens']);
  expect(shown.filter((tokens) => tokens !== undefined)).toEqual([15, 28, 15, 28]);
});
