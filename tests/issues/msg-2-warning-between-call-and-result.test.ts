import { call, calls, say } from '../support/fake-model';
import { lastText, useProduct } from '../e2e/acceptance/scenario';

/** A warning was put between a call and its result, and strict providers refused every later request of the thread. */
const used = useProduct({
  config: { token_budget: { enabled: true, max_tokens: 1000, warn_threshold: 0.1 }, title: { enabled: false } },
});
const { api, script, run } = used;

const look = { tool: 'ls', args: { path: '/mnt/user-data/workspace' } };

test('calls that repeat themselves are followed by their results alone, and what warns the model comes after them', async () => {
  const usage = { usage: [100, 20] as const };
  script(
    call(look.tool, look.args, 'c1', usage),
    call(look.tool, look.args, 'c2', usage),
    calls([
      { ...look, id: 'c3' },
      { ...look, id: 'c4' },
    ]),
    say('ok'),
  );
  const threadId = await api.newThread();
  expect(await run(threadId, 'go')).toMatchObject({ status: 'success', stop_reason: null });
  expect(lastText(await api.values(threadId))).toBe('ok');
  const roles = used.model.requests.map(({ body }) => body.messages.map(({ role }) => role).join(' '));
  expect(roles).toEqual([
    'system user',
    'system user assistant tool user',
    'system user assistant tool assistant tool user',
    'system user assistant tool assistant tool assistant tool tool user',
  ]);
  expect(JSON.stringify(used.model.requests.at(-1)?.body.messages.at(-1))).toContain('TOKEN BUDGET WARNING');
  used.model.assertClean();
});
