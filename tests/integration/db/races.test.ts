import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import type { RunEnding } from '../../../db';
import { admissionRequest } from '../../support/run-fixtures';
import type { TestDatabase } from '../../support/test-database';
import { openTestDatabase } from '../../support/test-database';

let db: TestDatabase;
beforeAll(async () => {
  db = await openTestDatabase();
});
afterAll(() => db.close());

const SUCCESS: RunEnding = {
  status: 'success',
  error: null,
  stopReason: null,
  rollback: false,
  threadStatus: 'idle',
  commit: { events: [{ kind: 'run-end', payload: {} }] },
};

async function begunRun(): Promise<{ threadId: string; runId: string }> {
  const threadId = randomUUID();
  const { row } = await db.stores.runs.admit(admissionRequest({ threadId }));
  await db.stores.runs.begin(
    row.runId,
    { threadId, checkpoint: { step: 0, source: 'input' } },
    { modelName: 'm', configHash: null },
  );
  return { threadId, runId: row.runId };
}

/** A transaction that stays open until the test commits it. */
async function openTransaction(): Promise<{ client: PoolClient; commit: () => Promise<void> }> {
  const client = await db.database.pool.connect();
  await client.query('begin');
  return {
    client,
    commit: async () => {
      await client.query('commit');
      client.release();
    },
  };
}

/** Waits until another connection of the test waits for a lock. */
async function someoneWaits(): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    const { rowCount } = await db.database.pool.query(
      "select 1 from pg_stat_activity where wait_event_type = 'Lock' and application_name = 'deerflow test'",
    );
    if (rowCount !== null && rowCount > 0) return;
    await delay(10);
  }
  throw new Error('Nobody waits for a lock.');
}

describe('what happens at the same moment', () => {
  test('a run ends while a late part of its reply is being stored, and neither fails', async () => {
    const { runId } = await begunRun();
    const { client, commit } = await openTransaction();
    // The two statements of `append_run_events`, with the end of the run between them.
    await client.query('update run_streams set next_number = next_number + 1 where run_id = $1', [runId]);
    const ending = db.stores.runs.end(runId, () => SUCCESS);
    await someoneWaits();
    await client.query("insert into run_events (run_id, number, kind, payload) values ($1, 1, 'text-delta', '{}')", [
      runId,
    ]);
    await commit();
    expect((await ending)?.endedNow).toBe(true);
    expect((await db.stores.events.read(runId, -1, 10)).map(({ number, kind }) => [number, kind])).toEqual([
      [0, 'run-start'],
      [1, 'text-delta'],
      [2, 'run-end'],
    ]);
  });

  test.each([
    ['held for a write', (threadId: string) => db.stores.threads.hold('default', threadId, 'test')],
    ['deleted', (threadId: string) => db.stores.threads.delete('default', threadId)],
  ])('a thread is not %s when a run is admitted to it at that moment', async (_what, take) => {
    const threadId = randomUUID();
    await db.stores.threads.create({ threadId, owner: 'default', metadata: {} });
    const { client, commit } = await openTransaction();
    await client.query("update threads set status = 'busy' where thread_id = $1", [threadId]);
    const taken = take(threadId);
    await someoneWaits();
    await client.query(
      `insert into runs (run_id, thread_id, owner, assistant_id, admission, kwargs, options, multitask_strategy,
         on_disconnect) values ($1, $2, 'default', 'lead_agent', 'active', '{}', '{}', 'reject', 'continue')`,
      [randomUUID(), threadId],
    );
    await commit();
    expect(await taken).toBe(false);
    expect(await db.stores.runs.active(threadId)).not.toBeNull();
  });
});

describe('runs that the reconciler looks after', () => {
  const quietIds = async (): Promise<string[]> => (await db.stores.runs.quiet(20, 100)).map(({ runId }) => runId);

  test('one that waits for its time is left alone, unless it was cancelled', async () => {
    const threadId = randomUUID();
    const { row } = await db.stores.runs.admit(admissionRequest({ threadId, afterSeconds: 3_600 }));
    await db.stores.runs.markWorkflowStarted(row.runId);
    const age = (): Promise<unknown> =>
      db.database.pool.query("update runs set updated_at = now() - interval '1 minute' where run_id = $1", [row.runId]);
    await age();
    expect(await quietIds()).not.toContain(row.runId);
    await db.stores.runs.requestCancel('default', row.runId, 'interrupt');
    expect(await quietIds()).not.toContain(row.runId);
    await age();
    expect(await quietIds()).toContain(row.runId);
  });
});
