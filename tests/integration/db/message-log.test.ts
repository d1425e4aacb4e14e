import { randomUUID } from 'node:crypto';
import type { Message } from '../../../contracts';
import type { TestDatabase } from '../../support/test-database';
import { openTestDatabase } from '../../support/test-database';
import { admissionRequest, aiMessage, humanMessage } from '../../support/run-fixtures';

let db: TestDatabase;
beforeAll(async () => {
  db = await openTestDatabase();
});
afterAll(() => db.close());

const checkpoint = (step: number, next: string[] = []) => ({ step, source: 'loop' as const, node: 'model', next });

async function texts(threadId: string, watermark?: number): Promise<string[]> {
  const { messages } = await db.stores.log.state(threadId, watermark);
  return messages.map((text) => (JSON.parse(text) as Message).content as string);
}

async function newThread(): Promise<string> {
  const threadId = randomUUID();
  await db.stores.threads.create({ threadId, owner: 'default', metadata: {} });
  return threadId;
}

describe('the message log', () => {
  test('state at an earlier checkpoint stays readable after messages are replaced and removed', async () => {
    const threadId = await newThread();
    const { log } = db.stores;
    const first = await log.commit({ threadId, messages: [humanMessage('one', 'a'), aiMessage('two', 'b')] });
    await log.commit({ threadId, messages: [aiMessage('two again', 'b')] });
    await log.commit({ threadId, removeMessages: ['a'] });
    expect(await texts(threadId)).toEqual(['two again']);
    expect(await texts(threadId, first.seq)).toEqual(['one', 'two']);
  });

  test('returning to a checkpoint brings back what was there and takes away what came later', async () => {
    const threadId = await newThread();
    const { log } = db.stores;
    const base = await log.commit({
      threadId,
      messages: [humanMessage('q1', 'q1'), aiMessage('a1', 'a1')],
      channels: { title: 'T' },
    });
    await log.commit({ threadId, removeMessages: ['q1'], channels: { title: 'changed' } });
    await log.commit({ threadId, messages: [humanMessage('q2', 'q2')] });
    await log.commit({ threadId, restore: base.seq, messages: [humanMessage('q3', 'q3')] });
    expect(await texts(threadId)).toEqual(['q1', 'a1', 'q3']);
    expect(await log.channels(threadId)).toEqual({ title: 'T' });
    await log.commit({ threadId, restore: base.seq });
    expect(await texts(threadId)).toEqual(['q1', 'a1']);
  });

  test('what comes after a commit of very many messages stands behind all of them', async () => {
    const threadId = await newThread();
    const many = Array.from({ length: 10_050 }, (_, place) => humanMessage(`${place}`));
    await db.stores.log.commit({ threadId, messages: many });
    await db.stores.log.commit({ threadId, messages: [humanMessage('last')] });
    expect(await texts(threadId)).toEqual([...many.map(({ content }) => content), 'last']);
  });

  test('artifacts are united in order and never doubled', async () => {
    const threadId = await newThread();
    await db.stores.log.commit({ threadId, artifacts: ['/a', '/b'] });
    await db.stores.log.commit({ threadId, artifacts: ['/b', '/c'] });
    expect(await db.stores.log.channels(threadId)).toEqual({ artifacts: ['/a', '/b', '/c'] });
  });

  test('tool results stand behind their call in its order, whichever finishes first', async () => {
    const threadId = await newThread();
    const { stores } = db;
    const { row } = await stores.runs.admit(admissionRequest({ threadId }));
    await stores.runs.begin(
      row.runId,
      { threadId, messages: [humanMessage('go')], checkpoint: checkpoint(0) },
      { modelName: 'm', configHash: null },
    );
    const call = (id: string) => ({ type: 'tool_call' as const, id, name: 'ls', args: {} });
    await stores.log.commit({
      threadId,
      runId: row.runId,
      messages: [{ ...aiMessage('', 'reply'), tool_calls: [call('c1'), call('c2')] }],
      toolCalls: ['c1', 'c2'].map((toolCallId, place) => ({
        toolCallId,
        turn: 1,
        place,
        name: 'ls',
        messageId: 'reply',
      })),
      turn: { turn: 1, messageId: 'reply', outcome: {} },
      checkpoint: checkpoint(1, ['tools']),
    });
    const result = (toolCallId: string, text: string) =>
      stores.log.commit({
        threadId,
        runId: row.runId,
        toolResult: {
          turn: 1,
          toolCallId,
          message: {
            type: 'tool',
            id: randomUUID(),
            tool_call_id: toolCallId,
            name: 'ls',
            content: text,
            status: 'success',
            artifact: null,
            additional_kwargs: {},
            response_metadata: {},
          },
          journal: { eventType: 'llm.tool.result', category: 'message' },
        },
        phase: { checkpoint: checkpoint(2, ['model']), events: [{ kind: 'state', payload: {} }] },
      });
    expect((await result('c2', 'second')).phaseComplete).toBe(false);
    expect((await result('c1', 'first')).phaseComplete).toBe(true);
    expect(await texts(threadId)).toEqual(['go', '', 'first', 'second']);
    await expect(result('c1', 'again')).rejects.toMatchObject({ code: 'already_committed' });
    expect((await stores.log.head(threadId))?.next).toEqual(['model']);
    const events = await stores.events.read(row.runId, -1, 100);
    expect(events.map((event) => event.number)).toEqual(events.map((_, index) => index));
  });

  test('a committed turn cannot be committed again, and an ended run takes no more writes', async () => {
    const threadId = await newThread();
    const { stores } = db;
    const { row } = await stores.runs.admit(admissionRequest({ threadId }));
    await stores.runs.begin(row.runId, { threadId, checkpoint: checkpoint(0) }, { modelName: null, configHash: null });
    const turn = {
      threadId,
      runId: row.runId,
      messages: [aiMessage('x')],
      turn: { turn: 1, messageId: 'x', outcome: {} },
    };
    await stores.log.commit(turn);
    await expect(stores.log.commit(turn)).rejects.toMatchObject({ code: 'already_committed' });
    const ended = await stores.runs.end(row.runId, () => ({
      status: 'success',
      error: null,
      stopReason: null,
      rollback: false,
      threadStatus: 'idle',
      commit: { events: [{ kind: 'run-end', payload: {} }] },
    }));
    expect(ended?.endedNow).toBe(true);
    await expect(stores.events.append(row.runId, [{ kind: 'custom', payload: {} }])).rejects.toMatchObject({
      code: 'run_closed',
    });
    await expect(stores.log.commit({ threadId, runId: row.runId, messages: [] })).rejects.toMatchObject({
      code: 'run_closed',
    });
    expect(
      await stores.runs.end(row.runId, () => {
        throw new Error('decided twice');
      }),
    ).toMatchObject({ endedNow: false });
  });

  test('twenty runs created at once on one thread give one active run and nineteen refusals', async () => {
    const threadId = await newThread();
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, () => db.stores.runs.admit(admissionRequest({ threadId }))),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'thread_busy' });
    expect(await db.stores.runs.list('default', threadId, { limit: 50, offset: 0 })).toHaveLength(1);
  });

  test('a rolled back run leaves the thread as it was before', async () => {
    const threadId = await newThread();
    const { stores } = db;
    await stores.log.commit({ threadId, messages: [humanMessage('kept', 'kept')], checkpoint: checkpoint(0) });
    const { row } = await stores.runs.admit(admissionRequest({ threadId }));
    await stores.runs.begin(
      row.runId,
      { threadId, messages: [humanMessage('gone')], checkpoint: checkpoint(1) },
      { modelName: null, configHash: null },
    );
    const { row: next } = await stores.runs.admit(admissionRequest({ threadId, strategy: 'enqueue' }));
    const ended = await stores.runs.end(row.runId, () => ({
      status: 'error',
      error: null,
      stopReason: null,
      rollback: true,
      threadStatus: 'idle',
      commit: { events: [{ kind: 'run-end', payload: {} }] },
    }));
    expect(await texts(threadId)).toEqual(['kept']);
    expect(ended?.next?.runId).toBe(next.runId);
  });
});
