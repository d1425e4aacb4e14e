import { randomUUID } from 'node:crypto';
import { finishRun } from '../../../activities/finish-run';
import { reconcileRuns } from '../../../activities/reconcile-runs';
import type { RunGateway } from '../../../temporal';
import { admissionRequest } from '../../support/run-fixtures';
import type { TestDatabase } from '../../support/test-database';
import { openTestDatabase } from '../../support/test-database';
import { createFixture } from '../../unit/sandbox/support';
import type { SandboxFixture } from '../../unit/sandbox/support';
import { activityDependencies } from './activity-fixture';

let db: TestDatabase;
let files: SandboxFixture;
beforeAll(async () => {
  db = await openTestDatabase();
  files = await createFixture();
});
afterAll(async () => {
  await files.close();
  await db.close();
});

/** A server that starts every workflow but those of some runs. */
function gatewayThatRefuses(...refused: string[]): RunGateway & { started: string[] } {
  const started: string[] = [];
  return {
    started,
    start: ({ runId }) => {
      if (refused.includes(runId)) return Promise.reject(new Error('The server does not take it.'));
      started.push(runId);
      return Promise.resolve();
    },
    cancel: () => Promise.resolve(),
    state: (runId) => (refused.includes(runId) ? Promise.reject(new Error('no answer')) : Promise.resolve('closed')),
  };
}

const admit = async (threadId: string): Promise<string> =>
  (await db.stores.runs.admit(admissionRequest({ threadId, strategy: 'enqueue' }))).row.runId;

const grown = (runId: string): Promise<unknown> =>
  db.database.pool.query(
    "update runs set (updated_at, available_at) = (now() - interval '1 minute', now() - interval '1 minute') where run_id = $1",
    [runId],
  );

test('a run ends in order although the next one of its thread cannot be started, which is then started later', async () => {
  const threadId = randomUUID();
  const [first, second] = [await admit(threadId), await admit(threadId)];
  const deps = activityDependencies(db.stores, files, { gateway: gatewayThatRefuses(second) });
  const result = await finishRun(deps, { runId: first, outcome: { kind: 'success' } });
  expect(result).toEqual({ status: 'success', hasWebhook: false });

  await grown(second);
  const gateway = gatewayThatRefuses();
  await reconcileRuns(activityDependencies(db.stores, files, { gateway }));
  expect(gateway.started).toContain(second);
});

test('a run that cannot be started or looked after keeps no other waiting', async () => {
  const [stuck, other, lost, orphan] = [
    await admit(randomUUID()),
    await admit(randomUUID()),
    await admit(randomUUID()),
    await admit(randomUUID()),
  ];
  await db.stores.runs.markWorkflowStarted(lost);
  await db.stores.runs.markWorkflowStarted(orphan);
  for (const runId of [stuck, other, lost, orphan]) await grown(runId);
  const gateway = gatewayThatRefuses(stuck, lost);
  await reconcileRuns(activityDependencies(db.stores, files, { gateway }));
  expect(gateway.started).toContain(other);
  expect(await db.stores.runs.load(orphan)).toMatchObject({ status: 'error', error: { code: 'orphaned' } });
  expect(await db.stores.runs.load(lost)).toMatchObject({ status: 'pending', admission: 'active' });
});

test('a run whose ending itself fails is ended plainly, so that its thread takes the next run', async () => {
  const threadId = randomUUID();
  const runId = await admit(threadId);
  await db.stores.runs.markWorkflowStarted(runId);
  await grown(runId);
  const broken = activityDependencies(db.stores, files, { gateway: gatewayThatRefuses() });
  const ledger = { ...db.stores.ledger, presented: () => Promise.reject(new Error('cannot be read')) };
  await reconcileRuns({ ...broken, stores: { ...db.stores, ledger } });
  expect(await db.stores.runs.load(runId)).toMatchObject({ status: 'error', admission: 'ended' });
  const events = await db.stores.events.read(runId, -1, 10);
  expect(events.map((event) => event.kind)).toEqual(['run-start', 'run-end']);
  expect(await admit(threadId)).toBeTruthy();
});
