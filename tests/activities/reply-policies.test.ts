import { call, raw } from '../support/fake-model';
import type { Activities } from './support';
import { attempt, openActivities, underConfig } from './support';

let suite: Activities;
beforeAll(async () => {
  suite = await openActivities();
});
afterAll(() => suite.close());

const LS = { path: '/mnt/user-data/workspace' };

async function firstReply(deps = suite.deps) {
  const { threadId, runId } = await suite.admit({ options: { streamModes: ['messages-tuple', 'custom'] } });
  await attempt(deps, ({ beginRun }) => beginRun({ runId })).result;
  const next = await attempt(deps, ({ callModel }) => callModel({ runId, turn: 1 })).result;
  return { threadId, runId, next, message: (await suite.messages(threadId)).at(-1) };
}

/** What a client has that puts the parts of the stream together. */
async function streamedText(runId: string): Promise<string> {
  const events = await suite.db.stores.events.read(runId, -1, 1_000);
  return events
    .filter(({ kind }) => kind === 'text-delta')
    .map(({ payload }) => (JSON.parse(payload) as { content: string }).content)
    .join('');
}

test('a reader of parts sees what was put behind a reply whose calls were taken away', async () => {
  const deps = await underConfig(suite, { token_budget: { enabled: true, max_tokens: 1000 } });
  const said = { ...call('ls', LS, 'c1', { usage: [990, 10] }), content: 'Let me look.', pieces: ['Let me ', 'look.'] };
  suite.model.script('scripted', [said]);
  const { runId, next, message } = await firstReply(deps);
  expect(next).toEqual({ kind: 'end', outcome: { kind: 'success', stopReason: 'token_capped' } });
  expect(message?.content).toMatch(/^Let me look\.\n\n\[TOKEN BUDGET EXCEEDED\]/);
  expect(await streamedText(runId)).toBe(message?.content);
  expect(await suite.db.stores.ledger.entry({ runId, turn: 1, toolCallId: 'c1' })).toBeNull();
});

test('a call that was cut off for its length is in no ledger, so that nothing can run it', async () => {
  suite.model.script('scripted', [
    raw({ toolCalls: [{ id: 'c1', name: 'bash', arguments: '{"command": "rm -r' }], finish: 'length' }),
  ]);
  const { runId, next } = await firstReply();
  expect(next).toEqual({ kind: 'end', outcome: { kind: 'success', stopReason: 'model_length_capped' } });
  expect(await suite.db.stores.ledger.entry({ runId, turn: 1, toolCallId: 'c1' })).toBeNull();
});

test('an empty reply that Gemini’s filter stopped is explained at once, and the journal says what was found', async () => {
  suite.model.requests.length = 0;
  suite.model.script('scripted', [raw({ content: '', finish: 'SAFETY' })]);
  const { runId, next, message } = await firstReply();
  expect(next).toEqual({ kind: 'end', outcome: { kind: 'success', stopReason: 'safety_capped' } });
  expect(suite.model.requests).toHaveLength(1);
  expect(message?.content).toMatch(/content rules/);
  expect(await streamedText(runId)).toBe(message?.content);
  const { rows } = await suite.db.database.pool.query<{ category: string; content: object }>(
    "select category, content from run_journal where run_id = $1 and event_type like 'middleware:%'",
    [runId],
  );
  expect(rows).toMatchObject([
    { category: 'middleware', content: { action: 'suppress_tool_calls', changes: { detector: 'gemini_safety' } } },
  ]);
});

test('a stored reply says what its tokens were spent on, unless token usage is switched off', async () => {
  suite.model.script('scripted', [call('ls', LS, 'c1'), call('ls', LS, 'c1')]);
  const { message } = await firstReply();
  expect(message?.additional_kwargs['token_usage_attribution']).toMatchObject({
    version: 1,
    kind: 'tool_batch',
    tool_call_ids: ['c1'],
    actions: [{ kind: 'tool', tool_name: 'ls', tool_call_id: 'c1' }],
  });
  const without = await firstReply(await underConfig(suite, { token_usage: { enabled: false } }));
  expect(without.message?.additional_kwargs).not.toHaveProperty('token_usage_attribution');
});
