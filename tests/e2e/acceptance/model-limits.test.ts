import { fail, say } from '../../support/fake-model';
import { lastText, useProduct } from './scenario';

/** Limits of the configuration on how often a provider is asked, as the provider sees them. */
const used = useProduct({
  models: ['broken'],
  modelKeys: { max_retries: 5, request_admission: { requests_per_minute: 60_000, group: 'account' } },
  config: { circuit_breaker: { failure_threshold: 2, recovery_timeout_sec: 60 }, title: { enabled: false } },
});
const { api, script, run } = used;

test.each([500, 529])(
  'a paced model that answers %i once is asked once for each attempt, whatever max_retries says',
  async (status) => {
    script(fail(status, { times: 1 }), say('ok'));
    expect((await run(await api.newThread(), 'go')).status).toBe('success');
    expect(used.model.requests).toHaveLength(2);
  },
);

test('a model that keeps failing is left alone after so many failures, with the reason in the answer; others go on', async () => {
  used.model.script('broken', [fail(503)]);
  const ask = async () => {
    const threadId = await api.newThread();
    const ended = await run(threadId, 'go', { context: { model_name: 'broken' } });
    expect(ended.status).toBe('error');
    return (await api.values(threadId)).messages.at(-1);
  };
  for (const failed of [await ask(), await ask()]) {
    expect(failed).toMatchObject({ additional_kwargs: { error_reason: 'transient' } });
  }
  const asked = used.model.requestsOf('broken').length;
  expect(await ask()).toMatchObject({
    additional_kwargs: {
      deerflow_error_fallback: true,
      error_type: 'CircuitBreakerOpen',
      error_reason: 'circuit_open',
    },
  });
  expect(used.model.requestsOf('broken')).toHaveLength(asked);

  script(say('still here'));
  const threadId = await api.newThread();
  expect((await run(threadId, 'go')).status).toBe('success');
  expect(lastText(await api.values(threadId))).toBe('still here');
});
