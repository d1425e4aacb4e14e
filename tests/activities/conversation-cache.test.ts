import { randomUUID } from 'node:crypto';
import { createConversationCache } from '../../activities';
import type { Message } from '../../contracts';
import type { StepCommit, TurnStore } from '../../db';
import { aiMessage, humanMessage } from '../support/run-fixtures';
import type { TestDatabase } from '../support/test-database';
import { openTestDatabase } from '../support/test-database';

let db: TestDatabase;
beforeAll(async () => {
  db = await openTestDatabase();
});
afterAll(() => db.close());

type Cache = ReturnType<typeof createConversationCache>;

async function newThread(threadId: string = randomUUID()): Promise<string> {
  await db.stores.threads.create({ threadId, owner: 'default', metadata: {} });
  return threadId;
}

async function commit(threadId: string, step: Omit<StepCommit, 'threadId'>): Promise<number> {
  return (await db.stores.log.commit({ threadId, ...step })).seq;
}

async function factsOf(threadId: string) {
  const { rows } = await db.database.pool.query<{ logSeq: number; threadCreatedAt: string }>(
    'select log_seq as "logSeq", created_at as "threadCreatedAt" from threads where thread_id = $1',
    [threadId],
  );
  const found = rows[0];
  if (found === undefined) throw new Error('the thread is not there');
  return { threadId, ...found };
}

async function inTheLog(threadId: string): Promise<Message[]> {
  return (await db.stores.log.state(threadId)).messages.map((text) => JSON.parse(text) as Message);
}

/** What the cache says is what the log says. */
async function expectCurrent(cache: Cache, threadId: string): Promise<void> {
  expect(await cache.load(await factsOf(threadId))).toEqual(await inTheLog(threadId));
}

/** The store, with the number of rows that it handed out. */
function counting(): { store: TurnStore; rows: () => number } {
  let rows = 0;
  const { turns } = db.stores;
  return {
    rows: () => rows,
    store: {
      ...turns,
      changesSince: async (threadId, seq) => {
        const changes = await turns.changesSince(threadId, seq);
        rows += changes.length;
        return changes;
      },
    },
  };
}

describe('the conversation that a worker remembers', () => {
  test('is read once, and then only what is new', async () => {
    const { store, rows } = counting();
    const cache = createConversationCache(store);
    const threadId = await newThread();
    for (let index = 0; index < 50; index += 1)
      await commit(threadId, { messages: [humanMessage(`message ${index}`)] });
    await expectCurrent(cache, threadId);
    expect(rows()).toBe(50);
    await expectCurrent(cache, threadId);
    expect(rows()).toBe(50);
    await commit(threadId, { messages: [humanMessage('one more')] });
    await expectCurrent(cache, threadId);
    expect(rows()).toBe(51);
  });

  test('follows a message that is replaced in place, and one that is removed', async () => {
    const cache = createConversationCache(db.stores.turns);
    const threadId = await newThread();
    await commit(threadId, { messages: [humanMessage('a', 'a'), aiMessage('b', 'b'), humanMessage('c', 'c')] });
    await expectCurrent(cache, threadId);
    await commit(threadId, { messages: [aiMessage('b, edited', 'b')] });
    await expectCurrent(cache, threadId);
    await commit(threadId, { removeMessages: ['a'] });
    await expectCurrent(cache, threadId);
    await commit(threadId, { removeMessages: ['c'] });
    await commit(threadId, { messages: [humanMessage('c again', 'c'), aiMessage('d', 'd')] });
    await expectCurrent(cache, threadId);
    expect((await inTheLog(threadId)).map(({ content }) => content)).toEqual(['b, edited', 'c again', 'd']);
  });

  test('follows a rollback, and what is said after it', async () => {
    const cache = createConversationCache(db.stores.turns);
    const threadId = await newThread();
    const kept = await commit(threadId, { messages: [humanMessage('a', 'a'), aiMessage('b', 'b')] });
    await commit(threadId, { messages: [humanMessage('c', 'c')] });
    await expectCurrent(cache, threadId);
    await commit(threadId, { messages: [aiMessage('b, edited', 'b'), aiMessage('d', 'd')], removeMessages: ['a'] });
    await expectCurrent(cache, threadId);
    await commit(threadId, { restore: kept, messages: [humanMessage('e', 'e')] });
    await expectCurrent(cache, threadId);
    expect((await inTheLog(threadId)).map(({ id }) => id)).toEqual(['a', 'b', 'e']);
  });

  test('follows a rollback that it learns of only later', async () => {
    const cache = createConversationCache(db.stores.turns);
    const threadId = await newThread();
    const kept = await commit(threadId, { messages: [humanMessage('a', 'a')] });
    await expectCurrent(cache, threadId);
    await commit(threadId, { messages: [aiMessage('b', 'b')] });
    await commit(threadId, { restore: kept });
    await commit(threadId, { messages: [aiMessage('b again', 'b'), humanMessage('c', 'c')] });
    await commit(threadId, { restore: kept, messages: [humanMessage('d', 'd')] });
    await expectCurrent(cache, threadId);
  });

  test('of a copied thread is its own: what is said in one is not heard in the other', async () => {
    const cache = createConversationCache(db.stores.turns);
    const sourceId = await newThread();
    const fork = await commit(sourceId, { messages: [humanMessage('a', 'a'), aiMessage('b', 'b')] });
    await commit(sourceId, { messages: [aiMessage('b, edited', 'b'), humanMessage('c', 'c')] });
    await expectCurrent(cache, sourceId);
    const threadId = randomUUID();
    await db.stores.threads.copy({ owner: 'default', sourceId, threadId, metadata: {}, watermark: fork });
    await expectCurrent(cache, threadId);
    expect((await inTheLog(threadId)).map(({ content }) => content)).toEqual(['a', 'b']);
    await commit(threadId, { messages: [humanMessage('only here', 'x')] });
    await commit(sourceId, { messages: [humanMessage('only there', 'y')] });
    await expectCurrent(cache, threadId);
    await expectCurrent(cache, sourceId);
  });

  test.each([
    ['fewer commits than the old one had', 1],
    ['as many commits as the old one had', 3],
    ['more commits than the old one had', 5],
  ])('of a deleted thread is forgotten when a new one of the same id has %s', async (_what, commits) => {
    const cache = createConversationCache(db.stores.turns);
    const threadId = await newThread();
    for (let index = 0; index < 3; index += 1) await commit(threadId, { messages: [humanMessage(`old ${index}`)] });
    await expectCurrent(cache, threadId);
    expect(await db.stores.threads.delete('default', threadId)).toBe(true);
    await newThread(threadId);
    for (let index = 0; index < commits; index += 1)
      await commit(threadId, { messages: [humanMessage(`new ${index}`)] });
    await expectCurrent(cache, threadId);
    expect(JSON.stringify(await cache.load(await factsOf(threadId)))).not.toContain('old');
  });

  test('is not changed under the hands of who read it before', async () => {
    const cache = createConversationCache(db.stores.turns);
    const threadId = await newThread();
    await commit(threadId, { messages: [humanMessage('a', 'a')] });
    const before = await cache.load(await factsOf(threadId));
    await commit(threadId, { messages: [aiMessage('b', 'b')] });
    await cache.load(await factsOf(threadId));
    await commit(threadId, { removeMessages: ['a'] });
    await cache.load(await factsOf(threadId));
    expect(before.map(({ id }) => id)).toEqual(['a']);
  });

  test('is right for readers at once, also where their facts are of different age', async () => {
    const cache = createConversationCache(db.stores.turns);
    const threadId = await newThread();
    await commit(threadId, { messages: [humanMessage('a', 'a')] });
    const older = await factsOf(threadId);
    await commit(threadId, { messages: [aiMessage('b', 'b')] });
    const newer = await factsOf(threadId);
    await Promise.all([cache.load(older), cache.load(newer), cache.load(older), cache.load(newer)]);
    await commit(threadId, { messages: [humanMessage('c', 'c')] });
    await expectCurrent(cache, threadId);
  });

  test('is bounded in the number of threads, and a thread that was dropped is read again', async () => {
    const { store, rows } = counting();
    const cache = createConversationCache(store, 2);
    const threads = await Promise.all([newThread(), newThread(), newThread()]);
    for (const threadId of threads) {
      await commit(threadId, { messages: [humanMessage('a')] });
      await expectCurrent(cache, threadId);
    }
    expect(rows()).toBe(3);
    await expectCurrent(cache, threads[2] as string);
    expect(rows()).toBe(3);
    await expectCurrent(cache, threads[0] as string);
    expect(rows()).toBe(4);
  });

  test('is what the log says after any sequence of commits, whenever it is asked', async () => {
    const cache = createConversationCache(db.stores.turns);
    const threadId = await newThread();
    const random = generator(20_240_817);
    const watermarks: number[] = [];
    for (let step = 0; step < 250; step += 1) {
      watermarks.push(await commit(threadId, randomStep(random, watermarks, step)));
      if (random(3) === 0) await expectCurrent(cache, threadId);
    }
    await expectCurrent(cache, threadId);
  }, 60_000);
});

const IDS = 12;

/** New messages, replacements, removals and rollbacks over few ids, so that they meet often. */
function randomStep(
  random: (below: number) => number,
  watermarks: readonly number[],
  step: number,
): Omit<StepCommit, 'threadId'> {
  const id = (): string => `m${random(IDS)}`;
  const restore = watermarks[random(watermarks.length || 1)];
  switch (random(6)) {
    case 0:
      return { removeMessages: [id(), id()] };
    case 1:
      return { restore, messages: [humanMessage(`after a rollback, ${step}`, id())] };
    case 2:
      return { removeMessages: [id()], messages: [aiMessage(`${step}`, id())] };
    default:
      return { messages: [...new Set([id(), id()])].map((one) => aiMessage(`${one}, ${step}`, one)) };
  }
}

/** The same numbers in every run of the test. */
function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
