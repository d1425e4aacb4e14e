import type { FinishRunResult, Message } from '../../contracts';
import { call } from '../support/fake-model';
import type { Activities } from './support';
import { attempt, openActivities } from './support';

let suite: Activities;
beforeAll(async () => {
  suite = await openActivities();
});
afterAll(() => suite.close());

const begin = (runId: string, number = 1) => attempt(suite.deps, ({ beginRun }) => beginRun({ runId }), number).result;
const finish = (runId: string, number = 1): Promise<FinishRunResult> =>
  attempt(suite.deps, ({ finishRun }) => finishRun({ runId, outcome: { kind: 'success' } }), number).result;

async function count(table: string, condition: string, parameter: string): Promise<number> {
  const { rows } = await suite.db.database.pool.query<{ count: number }>(
    `select count(*)::int as count from ${table} where ${condition}`,
    [parameter],
  );
  return rows[0]?.count ?? 0;
}

async function admissions(threadId: string): Promise<string[]> {
  const { rows } = await suite.db.database.pool.query<{ admission: string }>(
    'select admission from runs where thread_id = $1 order by ordinal',
    [threadId],
  );
  return rows.map(({ admission }) => admission);
}

const humans = (messages: Message[]): Message[] => messages.filter(({ type }) => type === 'human');

describe('the beginning of a run', () => {
  test('twice, one after the other: commits its input once and gives the same first move', async () => {
    const { threadId, runId } = await suite.admit();
    const first = await begin(runId);
    const second = await begin(runId, 2);
    expect(first).toMatchObject({ closed: false, next: { kind: 'model' } });
    expect(second).toEqual(first);
    expect(humans(await suite.messages(threadId))).toHaveLength(1);
    expect(await count('checkpoints', 'run_id = $1', runId)).toBe(1);
  });

  test('at once, by attempts that do not know of each other: commits its input once', async () => {
    const { threadId, runId } = await suite.admit();
    const results = await Promise.all([1, 2, 3, 4].map((number) => begin(runId, number)));
    for (const result of results) expect(result).toEqual(results[0]);
    expect(humans(await suite.messages(threadId))).toHaveLength(1);
    expect(await count('run_journal', "event_type = 'run.start' and run_id = $1", runId)).toBe(1);
  });

  test('after the run has ended: changes nothing and says so', async () => {
    const { threadId, runId } = await suite.admit();
    await finish(runId);
    expect(await begin(runId)).toMatchObject({ closed: true });
    expect(await suite.messages(threadId)).toEqual([]);
  });

  test('of a run that is not there: says so instead of trying for ever', async () => {
    expect(await begin('00000000-0000-4000-8000-000000000000')).toMatchObject({ closed: true });
  });
});

describe('the end of a run', () => {
  test('twice: is written once, and the first one counts', async () => {
    const { threadId, runId } = await suite.admit();
    await begin(runId);
    const first = await finish(runId);
    const second = await attempt(
      suite.deps,
      ({ finishRun }) =>
        finishRun({ runId, outcome: { kind: 'failed', code: 'internal', name: 'RunError', message: 'too late' } }),
      2,
    ).result;
    expect(first.status).toBe('success');
    expect(second).toEqual(first);
    expect(await suite.db.stores.runs.load(runId)).toMatchObject({ status: 'success', error: null });
    expect(await count('run_events', "kind = 'run-end' and run_id = $1", runId)).toBe(1);
    expect(await count('run_journal', "event_type in ('run.end', 'run.error') and run_id = $1", runId)).toBe(1);
    expect(await suite.db.stores.threads.get('default', threadId)).toMatchObject({ status: 'idle' });
  });

  test('at once, by several attempts: gives the thread to one waiting run, the oldest, and starts no other', async () => {
    const first = await suite.admit();
    const { threadId } = first;
    const second = await suite.admit({ threadId, strategy: 'enqueue' });
    const third = await suite.admit({ threadId, strategy: 'enqueue' });
    await begin(first.runId);
    suite.started.length = 0;
    await Promise.all([1, 2, 3].map((number) => finish(first.runId, number)));
    await finish(first.runId, 4);
    expect(await admissions(threadId)).toEqual(['ended', 'active', 'queued']);
    expect(new Set(suite.started)).toEqual(new Set([second.runId]));

    await begin(second.runId);
    await finish(second.runId);
    expect(await admissions(threadId)).toEqual(['ended', 'ended', 'active']);
    expect(suite.started.at(-1)).toBe(third.runId);
  });

  test('answers tool calls that have no result, so that the next run can ask the model', async () => {
    suite.model.script('scripted', [call('bash', { description: 'd', command: 'echo never' }, 'c1')]);
    const { threadId, runId } = await suite.admit();
    await begin(runId);
    await attempt(suite.deps, ({ callModel }) => callModel({ runId, turn: 1 })).result;
    await finish(runId);
    await finish(runId, 2);
    const results = (await suite.messages(threadId)).filter(({ type }) => type === 'tool');
    expect(results).toHaveLength(1);
    expect(results[0]).toMatchObject({ tool_call_id: 'c1', status: 'error' });
  });

  test('of a run that is gone is no failure', async () => {
    expect(await finish('00000000-0000-4000-8000-000000000000')).toMatchObject({ status: 'deleted' });
  });
});
