import { randomUUID } from 'node:crypto';
import { admissionRequest, humanMessage } from '../../support/run-fixtures';
import type { TestDatabase } from '../../support/test-database';
import { openTestDatabase } from '../../support/test-database';

let db: TestDatabase;
beforeAll(async () => {
  db = await openTestDatabase();
});
afterAll(() => db.close());

async function kept(): Promise<{ hash: string; body: string }> {
  const configuration = { hash: randomUUID(), body: '{"recursion_limit":5}' };
  await db.stores.configurations.keep(configuration);
  return configuration;
}

/** A run that began with a configuration. */
async function begun(configHash: string): Promise<string> {
  const threadId = randomUUID();
  const { row } = await db.stores.runs.admit(admissionRequest({ threadId }));
  const commit = { threadId, messages: [humanMessage('go')] };
  await db.stores.runs.begin(row.runId, commit, { modelName: 'm', configHash });
  return row.runId;
}

function unusedForHours(hash: string): Promise<unknown> {
  return db.database.pool.query("update run_configurations set used_at = now() - interval '3 hours' where hash = $1", [
    hash,
  ]);
}

test('a configuration is there once, however often it is kept', async () => {
  const configuration = await kept();
  await Promise.all(Array.from({ length: 5 }, () => db.stores.configurations.keep(configuration)));
  expect(await db.stores.configurations.body(configuration.hash)).toBe(configuration.body);
  expect(await db.stores.configurations.body('unknown')).toBeNull();
});

test('a step learns of the configuration that its run began with', async () => {
  const { hash } = await kept();
  const runId = await begun(hash);
  expect((await db.stores.turns.facts(runId, 1))?.configHash).toBe(hash);
  expect((await db.stores.runs.load(runId))?.configHash).toBe(hash);
});

test('only what no run under way began with, and none was about to begin with, is dropped', async () => {
  const [used, ended, fresh] = [await kept(), await kept(), await kept()];
  await begun(used.hash);
  const over = await begun(ended.hash);
  await db.database.pool.query("update runs set admission = 'ended', status = 'success' where run_id = $1", [over]);
  for (const { hash } of [used, ended]) await unusedForHours(hash);
  expect(await db.stores.configurations.prune()).toBe(1);
  const { body } = db.stores.configurations;
  expect(await Promise.all([used, ended, fresh].map(({ hash }) => body(hash)))).toEqual([used.body, null, fresh.body]);
  expect((await db.stores.runs.load(over))?.configHash).toBe(ended.hash);
});
