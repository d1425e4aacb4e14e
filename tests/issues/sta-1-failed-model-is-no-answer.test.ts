import { fail, say } from '../support/fake-model';
import { lastText, runIdOf, useProduct } from '../e2e/acceptance/scenario';

/** The model failed after all retries, and the run was stored as a success with the error text as its answer. */
const used = useProduct({
  config: { llm_call: { retry_max_attempts: 4, retry_base_delay_ms: 5, retry_cap_delay_ms: 10 } },
});
const { api, script, run, stream, get } = used;

test('a run whose model fails for good is an error with a reason, after as many attempts as configured', async () => {
  script(fail(503));
  const threadId = await api.newThread();
  const failed = await run(threadId, 'go');
  expect(failed).toMatchObject({ status: 'error', error: { code: 'model_unavailable' } });
  expect(failed.error?.message).toMatch(/not available \(HTTP 503\)/);
  expect(used.model.requests).toHaveLength(4);
  const answers = (await api.values(threadId)).messages.filter(({ type }) => type === 'ai');
  expect(answers).toHaveLength(1);
  expect(answers[0]).toMatchObject({ additional_kwargs: { deerflow_error_fallback: true } });

  script(say('ok'));
  expect((await run(threadId, 'again')).status).toBe('success');
  expect(lastText(await api.values(threadId))).toBe('ok');
  used.model.assertClean();
});

test('a reader of the stream sees the failure marked as one, then the end', async () => {
  script(fail(503));
  const threadId = await api.newThread();
  const { frames } = await stream(threadId, 'go', { stream_mode: ['values', 'messages-tuple'] });
  const shown = frames.filter(({ event }) => event === 'messages').at(-1)?.data;
  expect(shown).toEqual([
    expect.objectContaining({ additional_kwargs: expect.objectContaining({ deerflow_error_fallback: true }) }),
    expect.anything(),
  ]);
  expect(frames.at(-1)).toEqual({ event: 'end', data: null, id: null });
  expect(await get(`/api/threads/${threadId}/runs/${runIdOf(frames)}`)).toMatchObject({ status: 'error' });
});
