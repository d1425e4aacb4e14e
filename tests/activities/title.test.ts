import { ActivityCancellationDetails } from '@temporalio/common';
import type { ActivityDependencies } from '../../activities';
import type { StepCommit } from '../../db';
import { call, fail, hang, say } from '../support/fake-model';
import { humanMessage } from '../support/run-fixtures';
import type { Activities } from './support';
import { attempt, openActivities, underConfig } from './support';

let suite: Activities;
let deps: ActivityDependencies;
beforeAll(async () => {
  suite = await openActivities();
  deps = underConfig(suite, { title: { model_name: 'namer', max_chars: 30 } });
});
afterAll(() => suite.close());
beforeEach(() => {
  suite.model.requests.length = 0;
  suite.model.script('namer', []);
});

const SUCCESS = { kind: 'end', outcome: { kind: 'success' } };

async function begunRun(text = 'how do I bake bread?') {
  const run = await suite.admit({ options: { messages: [humanMessage(text)], streamModes: ['values', 'updates'] } });
  await attempt(deps, ({ beginRun }) => beginRun({ runId: run.runId })).result;
  return run;
}

const ask = (runId: string, turn = 1, using = deps) =>
  attempt(using, ({ callModel }) => callModel({ runId, turn })).result;
const finish = (runId: string) =>
  attempt(deps, ({ finishRun }) => finishRun({ runId, outcome: { kind: 'success' } })).result;
const titleOf = async (threadId: string) => (await suite.db.stores.log.state(threadId)).channels['title'];
const totals = (threadId: string) => suite.db.stores.runs.tokenTotals(threadId, true);

describe('a title that a model writes', () => {
  test('is in the state and the stream behind the first reply, and its tokens are part of the run', async () => {
    suite.model.script('scripted', [say('With flour.', { usage: [100, 10] })]);
    suite.model.script('namer', [say('<think>hm</think>"Baking bread"', { usage: [20, 3] })]);
    const { threadId, runId } = await begunRun();
    expect(await ask(runId)).toEqual(SUCCESS);
    expect(await titleOf(threadId)).toBe('Baking bread');
    expect(suite.model.requestsOf('namer')).toHaveLength(1);
    const [asked] = suite.model.requestsOf('namer');
    expect(JSON.stringify(asked?.body.messages)).toMatch(/how do I bake bread\?.*With flour\./);
    expect(asked?.body.tools ?? []).toEqual([]);
    await finish(runId);
    expect(await suite.db.stores.runs.load(runId)).toMatchObject({
      status: 'success',
      llmCallCount: 2,
      totalInputTokens: 120,
      totalOutputTokens: 13,
      totalTokens: 133,
      leadAgentTokens: 110,
      middlewareTokens: 23,
      subagentTokens: 0,
    });
    expect(await totals(threadId)).toEqual({
      totalTokens: 133,
      totalInputTokens: 120,
      totalOutputTokens: 13,
      totalRuns: 1,
      byModel: { scripted: { tokens: 110, runs: 1 }, namer: { tokens: 23, runs: 1 } },
      leadAgent: 110,
      subagent: 0,
      middleware: 23,
    });
    const events = await suite.db.stores.events.read(runId, -1, 100);
    const told = events.findIndex(({ kind, payload }) => kind === 'update' && payload.includes('Baking bread'));
    expect(told).toBeGreaterThan(0);
    expect(events.slice(told).map(({ kind }) => kind)).toEqual(['update', 'state', 'run-end']);
    const head = await suite.db.stores.log.head(threadId);
    expect((await suite.db.stores.log.state(threadId, head?.watermark)).channels['title']).toBe('Baking bread');
  });

  test('is not paid for again by attempts that are repeated, nor by later replies and the end', async () => {
    suite.model.script('scripted', [call('ls', { path: '/mnt/user-data/workspace' }, 'c1'), say('done')]);
    suite.model.script('namer', [say('Once')]);
    const { threadId, runId } = await begunRun();
    await ask(runId);
    await ask(runId);
    await attempt(deps, ({ runTool }) => runTool({ runId, turn: 1, toolCallId: 'c1' })).result;
    expect(await ask(runId, 2)).toEqual(SUCCESS);
    await finish(runId);
    await finish(runId);
    expect(await titleOf(threadId)).toBe('Once');
    expect(suite.model.requestsOf('namer')).toHaveLength(1);
    expect((await suite.messages(threadId)).map(({ type }) => type)).toEqual(['human', 'ai', 'tool', 'ai']);
  });

  test('is left to the user’s first words where the worker dies between the reply and the title', async () => {
    suite.model.script('scripted', [say('kept')]);
    suite.model.script('namer', [hang(60_000)]);
    const { threadId, runId } = await begunRun();
    const dying = attempt(deps, ({ callModel }) => callModel({ runId, turn: 1 }));
    await suite.model.waitForRequests(1, { key: 'namer' });
    dying.environment.cancel('WORKER_SHUTDOWN', new ActivityCancellationDetails({ workerShutdown: true }));
    await expect(dying.result).rejects.toMatchObject({ type: 'worker_shutdown', nonRetryable: false });
    expect(await ask(runId)).toEqual(SUCCESS);
    await finish(runId);
    expect(await titleOf(threadId)).toBe('how do I bake bread?');
    expect(suite.model.requestsOf('scripted')).toHaveLength(1);
    expect(suite.model.requestsOf('namer')).toHaveLength(1);
  });

  test.each([
    ['fails', fail(500)],
    ['says nothing but thoughts', say('<think>what could it be')],
  ])('falls back to the first words where its model %s', async (_what, step) => {
    suite.model.script('scripted', [say('an answer')]);
    suite.model.script('namer', [step]);
    const { threadId, runId } = await begunRun('x'.repeat(40));
    expect(await ask(runId)).toEqual(SUCCESS);
    expect(await titleOf(threadId)).toBe(`${'x'.repeat(27)}...`);
    expect(suite.model.requestsOf('namer')).toHaveLength(1);
  });

  test('falls back to the first words where its model is not configured, and asks no other', async () => {
    suite.model.script('scripted', [say('an answer')]);
    const unknown = underConfig(suite, { title: { model_name: 'gone' } });
    const { threadId, runId } = await begunRun();
    expect(await ask(runId, 1, unknown)).toEqual(SUCCESS);
    expect(await titleOf(threadId)).toBe('how do I bake bread?');
    expect(suite.model.requests).toHaveLength(1);
  });

  test('does not replace one that the thread has, and none is written where titles are off', async () => {
    suite.model.script('scripted', [say('an answer'), say('another')]);
    const titled = await suite.admit({ options: { channels: { title: 'Mine' } } });
    await attempt(deps, ({ beginRun }) => beginRun({ runId: titled.runId })).result;
    await ask(titled.runId);
    expect(await titleOf(titled.threadId)).toBe('Mine');
    const off = underConfig(suite, { title: { enabled: false, model_name: 'namer' } });
    const { threadId, runId } = await begunRun();
    await ask(runId, 1, off);
    expect(await titleOf(threadId)).toBeUndefined();
    expect(suite.model.requestsOf('namer')).toEqual([]);
  });

  test('is the fallback for a first run that was stopped before it had a reply', async () => {
    const { threadId, runId } = await begunRun();
    await attempt(deps, ({ finishRun }) => finishRun({ runId, outcome: { kind: 'cancelled', action: 'interrupt' } }))
      .result;
    expect(await titleOf(threadId)).toBe('how do I bake bread?');
    expect(suite.model.requests).toEqual([]);
  });

  test('counts nothing where its commit is refused because the run has ended meanwhile', async () => {
    suite.model.script('scripted', [say('an answer', { usage: [1, 1] })]);
    suite.model.script('namer', [say('Too late', { usage: [20, 3] })]);
    const { threadId, runId } = await begunRun();
    const { log } = deps.stores;
    const commit = async (step: StepCommit) => {
      if (step.sideUsage !== undefined) await finish(runId);
      return log.commit(step);
    };
    const late = { ...deps, stores: { ...deps.stores, log: { ...log, commit } } };
    await expect(ask(runId, 1, late)).rejects.toMatchObject({ type: 'run_closed' });
    expect(await totals(threadId)).toMatchObject({ totalTokens: 2, middleware: 0 });
    expect(await titleOf(threadId)).toBe('how do I bake bread?');
  });
});

test('a reply whose provider counts no tokens has no usage, and the totals stay numbers', async () => {
  suite.model.script('scripted', [say('uncounted')]);
  const { threadId, runId } = await begunRun();
  await ask(runId, 1, underConfig(suite, {}));
  const [, answer] = await suite.messages(threadId);
  expect(answer).toMatchObject({ type: 'ai', content: 'uncounted' });
  expect(await totals(threadId)).toMatchObject({ leadAgent: 0, middleware: 0, totalTokens: 0 });
});
