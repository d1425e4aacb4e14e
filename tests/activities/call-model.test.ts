import { ActivityCancellationDetails, CancelledFailure } from '@temporalio/common';
import { AppError } from '../../contracts';
import type { CommitResult } from '../../db';
import { call, hang, say } from '../support/fake-model';
import type { Activities } from './support';
import { attempt, openActivities } from './support';

let suite: Activities;
beforeAll(async () => {
  suite = await openActivities();
});
afterAll(() => suite.close());
beforeEach(() => {
  suite.model.requests.length = 0;
});

const SUCCESS = { kind: 'end', outcome: { kind: 'success' } };

async function begunRun(): Promise<{ threadId: string; runId: string }> {
  const run = await suite.admit({ options: { streamModes: ['values', 'messages-tuple'] } });
  await attempt(suite.deps, (activities) => activities.beginRun({ runId: run.runId })).result;
  return run;
}

async function answers(threadId: string): Promise<string[]> {
  const messages = await suite.messages(threadId);
  return messages.flatMap(({ type, content }) => (type === 'ai' && typeof content === 'string' ? [content] : []));
}

async function parts(runId: string): Promise<Array<{ kind: string; text: string }>> {
  const events = await suite.db.stores.events.read(runId, -1, 1_000);
  return events.map(({ kind, payload }) => ({
    kind,
    text: String((JSON.parse(payload) as { content?: unknown }).content ?? ''),
  }));
}

async function untilStreamed(runId: string, count: number): Promise<void> {
  for (const deadline = Date.now() + 10_000; ;) {
    const streamed = (await parts(runId)).filter(({ kind }) => kind === 'text-delta');
    if (streamed.length >= count) return;
    if (Date.now() > deadline) throw new Error('nothing was streamed');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe('a model call that is repeated', () => {
  test('after its reply was committed gives the same decision and does not ask the model', async () => {
    suite.model.script('scripted', [call('ls', { path: '/mnt/user-data/workspace' }, 'c1')]);
    const { threadId, runId } = await begunRun();
    const first = await attempt(suite.deps, ({ callModel }) => callModel({ runId, turn: 1 })).result;
    const second = await attempt(suite.deps, ({ callModel }) => callModel({ runId, turn: 1 }), 2).result;
    expect(first).toMatchObject({ kind: 'tools', calls: [{ toolCallId: 'c1', name: 'ls' }] });
    expect(second).toEqual(first);
    expect(suite.model.requests).toHaveLength(1);
    expect(await answers(threadId)).toHaveLength(1);
    expect(await suite.db.stores.runs.load(runId)).toMatchObject({ llmCallCount: 1 });
  });

  test('for a run that has ended is refused for good, and the model is not asked', async () => {
    const { runId } = await begunRun();
    await attempt(suite.deps, ({ finishRun }) => finishRun({ runId, outcome: { kind: 'success' } })).result;
    await expect(attempt(suite.deps, ({ callModel }) => callModel({ runId, turn: 1 })).result).rejects.toMatchObject({
      type: 'run_closed',
      nonRetryable: true,
    });
    expect(suite.model.requests).toEqual([]);
  });

  test('for a run whose cancel was accepted is refused for good, and the model is not asked', async () => {
    const { runId } = await begunRun();
    await suite.db.stores.runs.requestCancel('default', runId, 'interrupt');
    await expect(attempt(suite.deps, ({ callModel }) => callModel({ runId, turn: 1 })).result).rejects.toMatchObject({
      type: 'run_cancelled',
      nonRetryable: true,
    });
    expect(suite.model.requests).toEqual([]);
  });
});

describe('an attempt that was given up for dead but lives', () => {
  test('adds neither a reply nor text to a turn that another attempt has committed, and takes its decision', async () => {
    suite.model.script('scripted', [say('of the slow one '.repeat(40), { delayMs: 20 }), say('of the quick one')]);
    const { threadId, runId } = await begunRun();
    const slow = attempt(suite.deps, ({ callModel }) => callModel({ runId, turn: 1 }));
    await untilStreamed(runId, 3);
    const quick = attempt(suite.deps, ({ callModel }) => callModel({ runId, turn: 1 }), 2);
    expect(await quick.result).toEqual(SUCCESS);
    expect(await slow.result).toEqual(SUCCESS);
    expect(await answers(threadId)).toEqual(['of the quick one']);
    expect(await suite.db.stores.runs.load(runId)).toMatchObject({ llmCallCount: 1 });

    const stream = await parts(runId);
    const committed = stream.findLastIndex(({ kind }) => kind === 'state');
    expect(committed).toBeGreaterThan(0);
    expect(stream.slice(committed).filter(({ kind }) => kind === 'text-delta')).toEqual([]);
    // It was told to stop when its text was refused, long before its last word.
    expect(suite.model.requests[0]?.abandoned).toBe(true);
  });

  test('adds nothing to a run that has ended', async () => {
    suite.model.script('scripted', [say('of the slow one '.repeat(40), { delayMs: 20 })]);
    const { threadId, runId } = await begunRun();
    const slow = attempt(suite.deps, ({ callModel }) => callModel({ runId, turn: 1 }));
    await untilStreamed(runId, 3);
    await attempt(suite.deps, ({ finishRun }) => finishRun({ runId, outcome: { kind: 'success' } })).result;
    await expect(slow.result).rejects.toMatchObject({ type: 'run_closed', nonRetryable: true });
    expect(await answers(threadId)).toEqual([]);
    expect((await parts(runId)).at(-1)?.kind).toBe('run-end');
  });
});

describe('a reply that is complete', () => {
  /** The database as it looks to a worker that cannot reach it for a while. */
  function awayFor(failures: number, alreadyDone = false) {
    let left = failures;
    const { log } = suite.db.stores;
    const commit: typeof log.commit = async (step): Promise<CommitResult> => {
      if (left === 0) return log.commit(step);
      left -= 1;
      if (alreadyDone) await log.commit(step);
      throw new AppError('unavailable', 'The database is not available.');
    };
    return { ...suite.deps, stores: { ...suite.db.stores, log: { ...log, commit } } };
  }

  test('is kept through an outage of the database instead of being asked for again', async () => {
    suite.model.script('scripted', [say('kept')]);
    const { threadId, runId } = await begunRun();
    expect(await attempt(awayFor(3), ({ callModel }) => callModel({ runId, turn: 1 })).result).toEqual(SUCCESS);
    expect(await answers(threadId)).toEqual(['kept']);
    expect(suite.model.requests).toHaveLength(1);
  });

  test('is not stored twice where the connection broke after the commit', async () => {
    suite.model.script('scripted', [say('once')]);
    const { threadId, runId } = await begunRun();
    expect(await attempt(awayFor(1, true), ({ callModel }) => callModel({ runId, turn: 1 })).result).toEqual(SUCCESS);
    expect(await answers(threadId)).toEqual(['once']);
    expect(await suite.db.stores.runs.load(runId)).toMatchObject({ llmCallCount: 1 });
  });

  test('does not hold up a worker that shuts down', async () => {
    suite.model.script('scripted', [say('asked for elsewhere')]);
    const { runId } = await begunRun();
    const { environment, result } = attempt(awayFor(1_000), ({ callModel }) => callModel({ runId, turn: 1 }));
    await suite.model.waitForRequests(1);
    setTimeout(
      () => environment.cancel('WORKER_SHUTDOWN', new ActivityCancellationDetails({ workerShutdown: true })),
      200,
    );
    await expect(result).rejects.toMatchObject({ type: 'worker_shutdown', nonRetryable: false });
  });
});

describe('a model call under way', () => {
  test('is handed to another worker when this one shuts down, and nothing says that a user stopped it', async () => {
    suite.model.script('scripted', [hang(60_000)]);
    const { runId } = await begunRun();
    const { environment, result } = attempt(suite.deps, ({ callModel }) => callModel({ runId, turn: 1 }));
    await suite.model.waitForRequests(1);
    environment.cancel('WORKER_SHUTDOWN', new ActivityCancellationDetails({ workerShutdown: true }));
    await expect(result).rejects.toMatchObject({ type: 'worker_shutdown', nonRetryable: false });
    expect(await suite.db.stores.runs.load(runId)).toMatchObject({ status: 'running', cancelAction: null });
  });

  test('ends as cancelled when the user stops the run, also while the worker shuts down', async () => {
    suite.model.script('scripted', [hang(60_000)]);
    const { runId } = await begunRun();
    const { environment, result } = attempt(suite.deps, ({ callModel }) => callModel({ runId, turn: 1 }));
    await suite.model.waitForRequests(1);
    environment.cancel('CANCELLED', new ActivityCancellationDetails({ cancelRequested: true, workerShutdown: true }));
    await expect(result).rejects.toBeInstanceOf(CancelledFailure);
  });

  test('sends heartbeats while the model is silent', async () => {
    suite.model.script('scripted', [hang(2_500, say('late'))]);
    const { runId } = await begunRun();
    let beats = 0;
    const { environment, result } = attempt(suite.deps, ({ callModel }) => callModel({ runId, turn: 1 }));
    environment.on('heartbeat', () => (beats += 1));
    await result;
    expect(beats).toBeGreaterThanOrEqual(2);
  });
});
