import { randomUUID } from 'node:crypto';
import type { ActivityDependencies } from '../../activities';
import type { StepCommit } from '../../db';
import { call, fail, say } from '../support/fake-model';
import type { Activities } from './support';
import { attempt, openActivities, underConfig } from './support';

/** What a run has used, by caller and by model: the parts add up to the whole, whatever is repeated. */
let suite: Activities;
let deps: ActivityDependencies;
beforeAll(async () => {
  suite = await openActivities();
  deps = await underConfig(suite, { title: { model_name: 'namer' } });
});
afterAll(() => suite.close());
beforeEach(() => {
  suite.model.requests.length = 0;
});

const ask = (runId: string, turn: number) => attempt(deps, ({ callModel }) => callModel({ runId, turn })).result;
const finish = (runId: string, using = deps) =>
  attempt(using, ({ finishRun }) => finishRun({ runId, outcome: { kind: 'success' } })).result;
const totals = (threadId: string) => suite.db.stores.runs.tokenTotals(threadId, true);

async function begunRun(threadId: string = randomUUID()) {
  const run = await suite.admit({ threadId });
  await attempt(deps, ({ beginRun }) => beginRun({ runId: run.runId })).result;
  return run;
}

async function answeredRun(threadId?: string) {
  suite.model.script('scripted', [
    call('ls', { path: '/mnt/user-data/workspace' }, 'c1', { usage: [100, 10] }),
    say('done', { usage: [200, 20] }),
  ]);
  const run = await begunRun(threadId);
  await ask(run.runId, 1);
  await ask(run.runId, 1);
  await attempt(deps, ({ runTool }) => runTool({ runId: run.runId, turn: 1, toolCallId: 'c1' })).result;
  await ask(run.runId, 2);
  return run;
}

test('replies and the title are counted once each, and every sum is the total', async () => {
  suite.model.script('namer', [say('A title', { usage: [30, 3] })]);
  const { threadId, runId } = await answeredRun();
  await finish(runId);
  await finish(runId);
  expect(await suite.db.stores.runs.load(runId)).toMatchObject({
    status: 'success',
    llmCallCount: 3,
    totalInputTokens: 330,
    totalOutputTokens: 33,
    totalTokens: 363,
    leadAgentTokens: 330,
    subagentTokens: 0,
    middlewareTokens: 33,
  });
  expect(await totals(threadId)).toEqual({
    totalTokens: 363,
    totalInputTokens: 330,
    totalOutputTokens: 33,
    totalRuns: 1,
    byModel: { scripted: { tokens: 330, runs: 1 }, namer: { tokens: 33, runs: 1 } },
    leadAgent: 330,
    subagent: 0,
    middleware: 33,
  });
});

test('a thread’s totals are those of its runs', async () => {
  suite.model.script('namer', [say('A title', { usage: [30, 3] })]);
  const first = await answeredRun();
  await finish(first.runId);
  const second = await answeredRun(first.threadId);
  await finish(second.runId);
  const rows = await Promise.all([first, second].map(({ runId }) => suite.db.stores.runs.load(runId)));
  const sum = rows.reduce((total, row) => total + (row?.totalTokens ?? 0), 0);
  expect(await totals(first.threadId)).toMatchObject({
    totalTokens: sum,
    totalRuns: 2,
    byModel: { scripted: { tokens: 660, runs: 2 }, namer: { tokens: 33, runs: 1 } },
  });
  expect(sum).toBe(693);
});

test('the journal names who asked, and the title is not among the messages of the thread', async () => {
  suite.model.script('namer', [say('A title', { usage: [30, 3] })]);
  const { threadId, runId } = await answeredRun();
  await finish(runId);
  const { rows } = await suite.db.database.pool.query<{ metadata: object }>(
    "select metadata from run_journal where run_id = $1 and event_type = 'llm.ai.response' order by seq",
    [runId],
  );
  expect(rows).toMatchObject([
    { metadata: { caller: 'lead_agent', usage: { total_tokens: 110 } } },
    { metadata: { caller: 'lead_agent', usage: { total_tokens: 220 } } },
    { metadata: { caller: 'middleware:title', model_name: 'namer', usage: { total_tokens: 33 } } },
  ]);
  expect((await suite.messages(threadId)).map(({ type }) => type)).toEqual(['human', 'ai', 'tool', 'ai']);
});

test('a title by the run’s own model counts that model once', async () => {
  const own = await underConfig(suite, { title: { model_name: 'scripted' } });
  suite.model.script('scripted', [say('done', { usage: [10, 1] }), say('A title', { usage: [20, 2] })]);
  const { threadId, runId } = await begunRun();
  await ask(runId, 1);
  await finish(runId, own);
  expect(await totals(threadId)).toMatchObject({
    totalTokens: 33,
    byModel: { scripted: { tokens: 33, runs: 1 } },
    leadAgent: 11,
    middleware: 22,
  });
});

test('a title that nobody wrote costs nothing', async () => {
  suite.model.script('namer', [fail(500)]);
  const { threadId, runId } = await answeredRun();
  await finish(runId);
  expect(await suite.db.stores.runs.load(runId)).toMatchObject({ llmCallCount: 2, totalTokens: 330 });
  expect(await totals(threadId)).toMatchObject({ middleware: 0, byModel: { scripted: { tokens: 330, runs: 1 } } });
});

test('a title with characters that the database does not store is asked for once, and the run ends', async () => {
  suite.model.script('namer', [say('A\u0000title', { usage: [30, 3] })]);
  const { threadId, runId } = await answeredRun();
  await finish(runId);
  expect(await suite.db.stores.runs.load(runId)).toMatchObject({ status: 'success', llmCallCount: 3 });
  expect((await suite.db.stores.log.state(threadId)).channels['title']).toBe('A\ufffdtitle');
});

test('a title whose commit is refused, because the run has ended meanwhile, counts nothing', async () => {
  suite.model.script('namer', [say('Too late', { usage: [30, 3] })]);
  const { threadId, runId } = await answeredRun();
  const { log } = deps.stores;
  const plain = await underConfig(suite, {});
  const commit = async (step: StepCommit) => {
    if (step.sideUsage !== undefined) await finish(runId, plain);
    return log.commit(step);
  };
  await finish(runId, { ...deps, stores: { ...deps.stores, log: { ...log, commit } } });
  expect(await totals(threadId)).toMatchObject({ totalTokens: 330, middleware: 0 });
  expect((await suite.db.stores.log.state(threadId)).channels['title']).toBe('hello');
});

test('the totals of a run go with it', async () => {
  suite.model.script('namer', [say('A title', { usage: [30, 3] })]);
  const { threadId, runId } = await answeredRun();
  await finish(runId);
  expect(await suite.db.stores.runs.delete('default', runId)).toBe(true);
  expect(await totals(threadId)).toMatchObject({ totalTokens: 0, totalRuns: 0, byModel: {} });
});
