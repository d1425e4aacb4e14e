import type { ActivityDependencies } from '../../activities';
import { call, raw, say } from '../support/fake-model';
import type { Activities } from './support';
import { attempt, openActivities, underConfig } from './support';

let suite: Activities;
beforeAll(async () => {
  suite = await openActivities();
});
afterAll(() => suite.close());
beforeEach(() => {
  suite.model.requests.length = 0;
});

const LS = { path: '/mnt/user-data/workspace' };

async function begunRun(deps: ActivityDependencies) {
  const run = await suite.admit({ options: { streamModes: ['values', 'messages-tuple', 'custom'] } });
  await attempt(deps, ({ beginRun }) => beginRun({ runId: run.runId })).result;
  return run;
}

const ask = (deps: ActivityDependencies, runId: string, turn: number) =>
  attempt(deps, ({ callModel }) => callModel({ runId, turn })).result;
const tool = (deps: ActivityDependencies, runId: string, turn: number, toolCallId: string) =>
  attempt(deps, ({ runTool }) => runTool({ runId, turn, toolCallId })).result;
const ended = (stopReason: string) => ({ kind: 'end', outcome: { kind: 'success', stopReason } });
const lastMessage = async (threadId: string) => (await suite.messages(threadId)).at(-1);
const toldLast = () => suite.model.requests.at(-1)?.body.messages.at(-1);

async function spoken(runId: string): Promise<string> {
  const events = await suite.db.stores.events.read(runId, -1, 1_000);
  return events
    .filter(({ kind }) => kind === 'text-delta')
    .map(({ payload }) => (JSON.parse(payload) as { content: string }).content)
    .join('');
}

describe('a token budget', () => {
  const budget = (more: object = {}) =>
    underConfig(suite, { token_budget: { enabled: true, max_tokens: 1000, ...more } });

  test('warns the model near its end, behind the results of tools, and nothing of it is stored', async () => {
    const deps = budget();
    suite.model.script('scripted', [call('ls', LS, 'c1', { usage: [800, 50] }), say('in time', { usage: [10, 1] })]);
    const { threadId, runId } = await begunRun(deps);
    await ask(deps, runId, 1);
    expect(JSON.stringify(suite.model.requests[0]?.body)).not.toContain('BUDGET');
    await tool(deps, runId, 1, 'c1');
    expect(await ask(deps, runId, 2)).toEqual({ kind: 'end', outcome: { kind: 'success' } });
    expect(toldLast()).toMatchObject({
      role: 'user',
      content: expect.stringMatching(/^\[TOKEN BUDGET WARNING\].*850/),
    });
    expect(JSON.stringify(await suite.messages(threadId))).not.toContain('BUDGET');
    suite.model.assertClean();
  });

  test('takes away the tools of a reply behind its end, tells the reader of parts too, and says why', async () => {
    const deps = budget();
    suite.model.script('scripted', [
      call('ls', LS, 'c1', { usage: [600, 0] }),
      call('ls', LS, 'c2', { usage: [390, 10] }),
    ]);
    const { threadId, runId } = await begunRun(deps);
    await ask(deps, runId, 1);
    await tool(deps, runId, 1, 'c1');
    expect(await ask(deps, runId, 2)).toEqual(ended('token_capped'));
    const message = await lastMessage(threadId);
    expect(message).toMatchObject({ type: 'ai', tool_calls: [], response_metadata: { finish_reason: 'stop' } });
    expect(message?.content).toMatch(/^\[TOKEN BUDGET EXCEEDED\]/);
    expect(await spoken(runId)).toContain('[TOKEN BUDGET EXCEEDED]');
    expect(await suite.db.stores.ledger.entry({ runId, turn: 2, toolCallId: 'c2' })).toBeNull();
    await attempt(deps, ({ finishRun }) =>
      finishRun({ runId, outcome: { kind: 'success', stopReason: 'token_capped' } }),
    ).result;
    expect(await suite.db.stores.runs.load(runId)).toMatchObject({ status: 'success', stopReason: 'token_capped' });
  });

  test('is that of a run: the next one on the thread begins anew', async () => {
    const deps = budget();
    suite.model.script('scripted', [say('a', { usage: [990, 10] }), call('ls', LS, 'c1', { usage: [10, 1] })]);
    const first = await begunRun(deps);
    await ask(deps, first.runId, 1);
    await attempt(deps, ({ finishRun }) => finishRun({ runId: first.runId, outcome: { kind: 'success' } })).result;
    const second = await suite.admit({ threadId: first.threadId });
    await attempt(deps, ({ beginRun }) => beginRun({ runId: second.runId })).result;
    expect(await ask(deps, second.runId, 1)).toMatchObject({ kind: 'tools' });
    expect(toldLast()?.content).toBe('hello');
  });
});

describe('a reply that was cut off for its length', () => {
  test('runs no tool and says so', async () => {
    suite.model.script('scripted', [
      raw({ toolCalls: [{ id: 'c1', name: 'bash', arguments: '{"command": "rm -r' }], finish: 'length' }),
    ]);
    const { threadId, runId } = await begunRun(suite.deps);
    expect(await ask(suite.deps, runId, 1)).toEqual(ended('model_length_capped'));
    expect(await lastMessage(threadId)).toMatchObject({ tool_calls: [], content: expect.stringMatching(/cut off/) });
    expect(await suite.db.stores.ledger.entry({ runId, turn: 1, toolCallId: 'c1' })).toBeNull();
  });
});

describe('a reply that a safety filter stopped', () => {
  test('is journalled without the arguments of its calls', async () => {
    suite.model.script('scripted', [
      raw({ toolCalls: [{ id: 'c1', name: 'bash', arguments: '{"command":"forbidden"}' }], finish: 'SAFETY' }),
    ]);
    const { threadId, runId } = await begunRun(suite.deps);
    expect(await ask(suite.deps, runId, 1)).toEqual(ended('safety_capped'));
    const { rows } = await suite.db.database.pool.query<{ content: object }>(
      "select content from run_journal where run_id = $1 and event_type = 'middleware:safety_termination'",
      [runId],
    );
    expect(rows).toMatchObject([
      { content: { action: 'suppress_tool_calls', changes: { suppressed_tool_call_names: ['bash'] } } },
    ]);
    expect(JSON.stringify([rows, await suite.messages(threadId)])).not.toContain('forbidden');
  });

  test('runs its tools where the operator switched the guard off', async () => {
    const deps = underConfig(suite, { safety_finish_reason: { enabled: false } });
    suite.model.script('scripted', [
      raw({ toolCalls: [{ id: 'c1', name: 'ls', arguments: JSON.stringify(LS) }], finish: 'content_filter' }),
    ]);
    const { runId } = await begunRun(deps);
    expect(await ask(deps, runId, 1)).toMatchObject({ kind: 'tools' });
  });
});

describe('a model that says nothing after its tools', () => {
  async function toSilence(deps = suite.deps) {
    const run = await begunRun(deps);
    await ask(deps, run.runId, 1);
    await tool(deps, run.runId, 1, 'c1');
    return run;
  }

  test('is asked once more in words that no user sees', async () => {
    suite.model.script('scripted', [call('ls', LS, 'c1'), raw({}), say('at last')]);
    const { threadId, runId } = await toSilence();
    expect(await ask(suite.deps, runId, 2)).toEqual({ kind: 'end', outcome: { kind: 'success' } });
    expect(toldLast()).toMatchObject({ role: 'user', content: expect.stringMatching(/empty/) });
    expect((await suite.messages(threadId)).map(({ type }) => type)).toEqual(['human', 'ai', 'tool', 'ai']);
    expect(await lastMessage(threadId)).toMatchObject({ content: 'at last' });
    suite.model.assertClean();
  });

  test('twice fails the run, with a message that is marked as no answer', async () => {
    suite.model.script('scripted', [call('ls', LS, 'c1'), raw({}), raw({})]);
    const { threadId, runId } = await toSilence();
    expect(await ask(suite.deps, runId, 2)).toMatchObject({ kind: 'end', outcome: { kind: 'model_failed' } });
    expect(await lastMessage(threadId)).toMatchObject({ additional_kwargs: { deerflow_error_fallback: true } });
    expect(suite.model.requests).toHaveLength(3);
  });

  test('is given its second chance once in a run', async () => {
    const deps = underConfig(suite, { llm_call: { retry_max_attempts: 1 } });
    suite.model.script('scripted', [call('ls', LS, 'c1'), raw({}), call('ls', LS, 'c2'), raw({})]);
    const { runId } = await toSilence(deps);
    expect(await ask(deps, runId, 2)).toMatchObject({ kind: 'tools' });
    await tool(deps, runId, 2, 'c2');
    expect(await ask(deps, runId, 3)).toMatchObject({ outcome: { kind: 'model_failed' } });
    expect(suite.model.requests).toHaveLength(4);
  });
});

test('the operator’s text stands around the system prompt', async () => {
  const deps = underConfig(suite, { lead_prompt_overlay: { prepend: 'Say {this}.', append: 'End.' } });
  suite.model.script('scripted', [say('ok')]);
  const { runId } = await begunRun(deps);
  await ask(deps, runId, 1);
  const [system] = suite.model.requests[0]?.body.messages ?? [];
  expect(system?.content).toMatch(/^Say \{this\}\.\n\n<role>[\s\S]*\n\nEnd\.$/);
});
