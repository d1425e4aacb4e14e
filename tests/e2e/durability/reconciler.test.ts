import { randomBytes, randomUUID } from 'node:crypto';
import type { Stores } from '../../../db';
import { createDatabase, createStores } from '../../../db';
import type { Database } from '../../../db';
import { runWorkflowId } from '../../../contracts';
import { hang, say } from '../../support/fake-model';
import type { ApiClient, Product } from '../../support/product';
import { createApiClient, startProduct } from '../../support/product';
import { expectSoundRun } from '../../support/product/invariants';
import { admissionRequest, humanMessage, runOptions } from '../../support/run-fixtures';
import type { StartedRun } from './support';
import { lastText, model, startRun } from './support';

/** The reconciler looks every 15 s at what has been quiet for 20 s. */
const PERIODS_MS = 45_000;

let product: Product;
let api: ApiClient;
let database: Database;
let stores: Stores;

beforeAll(async () => {
  product = await startProduct({ models: ['terminated', 'cancelled', 'unstarted'] });
  api = createApiClient(() => product.url);
  database = createDatabase({
    url: product.databaseUrl,
    schema: product.schema,
    maxConnections: 2,
    applicationName: 'deerflow test',
  });
  stores = createStores(database, randomBytes(32));
});
afterAll(async () => {
  await database.close();
  await product.close();
});

/** A row as a process leaves it that dies between the commit of an admission and the start of its workflow. */
async function storeWithoutStart(name: string, cancelled = false): Promise<StartedRun> {
  const threadId = await api.newThread();
  const options = runOptions({ messages: [humanMessage('go')], context: { model_name: name } });
  const { row } = await stores.runs.admit(admissionRequest({ threadId, options }));
  if (cancelled) await stores.runs.requestCancel(row.owner, row.runId, 'interrupt');
  return { threadId, runId: row.runId };
}

async function hangingRun(name: string): Promise<StartedRun> {
  product.model.script(name, [hang(120_000), say('the next run')]);
  const run = await startRun(api, 'go', model(name));
  await product.model.waitForRequests(1, { key: name });
  return run;
}

async function takesNewRun(threadId: string, name: string): Promise<void> {
  const { runId } = await startRun(api, 'and now?', { ...model(name), threadId });
  expect((await api.ended(threadId, runId)).status).toBe('success');
  expect(await lastText(api, threadId)).toBe('the next run');
}

async function startIsMadeUp(): Promise<void> {
  product.model.script('unstarted', [say('started late')]);
  const { threadId, runId } = await storeWithoutStart('unstarted');
  expect((await api.ended(threadId, runId, PERIODS_MS)).status).toBe('success');
  expect(await lastText(api, threadId)).toBe('started late');
  expect(product.model.requestsOf('unstarted')).toHaveLength(1);
  await expectSoundRun(product.pool, runId);
}

async function cancelOfUnstartedRunIsKept(): Promise<void> {
  const { threadId, runId } = await storeWithoutStart('scripted-two', true);
  expect((await api.ended(threadId, runId, PERIODS_MS)).status).toBe('interrupted');
  await expectSoundRun(product.pool, runId);
}

async function terminatedRunIsClosed(): Promise<void> {
  const { threadId, runId } = await hangingRun('terminated');
  await product.temporal.workflow.getHandle(runWorkflowId(runId)).terminate('by an operator');
  const record = await api.ended(threadId, runId, PERIODS_MS);
  expect(record).toMatchObject({ status: 'error', error: { name: 'RunStoppedError' } });
  await expectSoundRun(product.pool, runId);
  await takesNewRun(threadId, 'terminated');
}

async function runCancelledInTemporalIsInterrupted(): Promise<void> {
  const { threadId, runId } = await hangingRun('cancelled');
  await product.temporal.workflow.getHandle(runWorkflowId(runId)).cancel();
  expect((await api.ended(threadId, runId, 10_000)).status).toBe('interrupted');
  await expectSoundRun(product.pool, runId);
  await takesNewRun(threadId, 'cancelled');
}

/** A run that is merely slow is none of the reconciler's business. */
async function slowRunIsLeftAlone(): Promise<void> {
  product.model.script('scripted', [hang(38_000, say('slow but sure'))]);
  const { threadId, runId } = await startRun(api, 'take your time', model('scripted'));
  expect((await api.ended(threadId, runId, 2 * PERIODS_MS)).status).toBe('success');
  expect(await lastText(api, threadId)).toBe('slow but sure');
  expect(product.model.requestsOf('scripted')).toHaveLength(1);
}

describe('what a crash or an operator leaves between PostgreSQL and Temporal is set right within a minute', () => {
  // Side by side, because each waits for the reconciler's period.
  test('lost starts are made up, runs stopped from outside are closed, all others are left alone', async () => {
    const outcomes = await Promise.allSettled([
      startIsMadeUp(),
      cancelOfUnstartedRunIsKept(),
      terminatedRunIsClosed(),
      runCancelledInTemporalIsInterrupted(),
      slowRunIsLeftAlone(),
    ]);
    expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual([]);
    expect(product.model.requestsOf('scripted-two')).toEqual([]);
  }, 150_000);

  test('a run whose row is gone ends its workflow and disturbs nobody', async () => {
    const runId = randomUUID();
    const started = await product.temporal.workflow.start('agentRun', {
      workflowId: runWorkflowId(runId),
      taskQueue: product.taskQueue,
      args: [{ runId }],
    });
    await started.result();
  });
});
