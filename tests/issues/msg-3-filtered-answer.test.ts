import { raw, say } from '../support/fake-model';
import { lastText, useProduct } from '../e2e/acceptance/scenario';

/** An empty answer that the provider's filter had stopped was stored, and made every later request invalid. */
const used = useProduct();
const { api, script, run } = used;

test('an empty answer of the filter is explained to the user and leaves a thread that can be used', async () => {
  script(raw({ content: '', finish: 'content_filter' }));
  const threadId = await api.newThread();
  expect(await run(threadId, 'go')).toMatchObject({ status: 'success', stop_reason: 'safety_capped' });
  expect(lastText(await api.values(threadId))).toMatch(/content rules/);

  script(say('ok'));
  expect(await run(threadId, 'again')).toMatchObject({ status: 'success', stop_reason: null });
  const told = used.model.requests.at(-1)?.body.messages ?? [];
  expect(told.filter(({ role, content }) => role === 'assistant' && !content)).toEqual([]);
  used.model.assertClean();
});

test('what the filter let through is kept', async () => {
  script(raw({ content: 'the beginning of', finish: 'content_filter' }));
  const threadId = await api.newThread();
  expect((await run(threadId, 'go')).stop_reason).toBe('safety_capped');
  expect(lastText(await api.values(threadId))).toBe('the beginning of');
});
