import { randomUUID } from 'node:crypto';
import { admissionRequest, humanMessage } from '../../support/run-fixtures';
import type { TestDatabase } from '../../support/test-database';
import { openTestDatabase } from '../../support/test-database';

let db: TestDatabase;
beforeAll(async () => {
  db = await openTestDatabase();
});
afterAll(() => db.close());

async function endedRun(threadId: string, text: string): Promise<string> {
  const { runs } = db.stores;
  const { row } = await runs.admit(admissionRequest({ threadId }));
  const journal = (messageId: string) => [{ eventType: 'llm.human.input', category: 'message', messageId }];
  const message = humanMessage(text);
  await runs.begin(
    row.runId,
    { threadId, messages: [message], journal: journal(message.id) },
    { modelName: 'm', configHash: null },
  );
  await runs.end(row.runId, () => ({
    status: 'success',
    error: null,
    stopReason: null,
    rollback: false,
    threadStatus: 'idle',
    commit: { events: [{ kind: 'run-end', payload: {} }] },
  }));
  return row.runId;
}

test('what a replaced run had said stays hidden when the run is deleted, and what others said stays', async () => {
  const threadId = randomUUID();
  const { runs, journal } = db.stores;
  const replaced = await endedRun(threadId, 'first try');
  const kept = await endedRun(threadId, 'second try');
  await db.database.pool.query('update runs set superseded = true where run_id = $1', [replaced]);
  const visible = async () =>
    (await journal.visibleMessages(threadId, { limit: 10 })).map(
      ({ content }) => (content as { content: string }).content,
    );
  expect(await visible()).toEqual(['second try']);
  expect(await runs.delete('someone else', replaced)).toBe(false);
  expect(await runs.delete('default', replaced)).toBe(true);
  expect(await visible()).toEqual(['second try']);
  expect(await runs.delete('default', kept)).toBe(true);
  expect(await visible()).toEqual(['second try']);
});

test('a reader goes on behind its last event although the clock was set back meanwhile', async () => {
  const { stores, database } = db;
  const { row } = await stores.runs.admit(admissionRequest({ threadId: randomUUID() }));
  await stores.events.append(row.runId, [{ kind: 'custom', payload: {} }]);
  await stores.events.append(row.runId, [{ kind: 'custom', payload: {} }]);
  await database.pool.query("update run_events set at = at - interval '1 hour' where run_id = $1 and number = 2", [
    row.runId,
  ]);
  const [, second] = await stores.events.read(row.runId, -1, 10);
  expect(await stores.events.position(row.runId, second?.at ?? 0, 1)).toBe(1);
});

describe('secrets of a request', () => {
  const stored = async (runId: string) =>
    (await db.database.pool.query('select 1 from run_secrets where run_id = $1', [runId])).rowCount;

  test('are there from the moment that the run is there, sealed, and gone with its end', async () => {
    const { runs, secrets } = db.stores;
    const request = admissionRequest({ threadId: randomUUID() });
    const sealedSecrets = secrets.seal(request.runId, { TOKEN: 'swordfish' });
    expect(sealedSecrets.includes('swordfish')).toBe(false);
    await runs.admit({ ...request, sealedSecrets });
    expect(await secrets.open(request.runId)).toEqual({ TOKEN: 'swordfish' });
    await runs.end(request.runId, () => ({
      status: 'error',
      error: null,
      stopReason: null,
      rollback: false,
      threadStatus: 'error',
      commit: {},
    }));
    expect(await stored(request.runId)).toBe(0);
  });

  test('of a run that is refused are stored nowhere', async () => {
    const { runs, secrets } = db.stores;
    const threadId = randomUUID();
    await runs.admit(admissionRequest({ threadId }));
    const refused = admissionRequest({ threadId });
    const sealedSecrets = secrets.seal(refused.runId, { TOKEN: 'swordfish' });
    await expect(runs.admit({ ...refused, sealedSecrets })).rejects.toMatchObject({ code: 'thread_busy' });
    expect(await stored(refused.runId)).toBe(0);
  });
});
