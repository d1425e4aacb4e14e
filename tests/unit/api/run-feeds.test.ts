import { EventEmitter, setMaxListeners } from 'node:events';
import type { RunEvent } from '../../../contracts';
import { createRunFeeds } from '../../../api/sse/run-feeds';
import type { Listener, Stores } from '../../../db';

/** A log in memory that counts how often it is read. */
function fakeLog() {
  const rows: RunEvent[] = [];
  const notifications = new EventEmitter();
  let failing = false;
  const state = { reads: 0 };
  const events = {
    async read(_runId: string, after: number, limit: number) {
      state.reads += 1;
      if (failing) throw new Error('the database is away');
      return rows.slice(after + 1, after + 1 + limit);
    },
    lastNumber: async () => rows.length - 1,
  };
  const listener: Listener = {
    subscribe(onNotification) {
      notifications.on('notification', onNotification);
      return () => notifications.off('notification', onNotification);
    },
    close: () => Promise.resolve(),
  };
  return {
    state,
    listener,
    stores: { events } as unknown as Pick<Stores, 'events' | 'log' | 'runs'>,
    /** Adds events, and says so unless the notification gets lost. */
    add(count: number, { notify = true, payload = '{}' } = {}) {
      for (let place = 0; place < count; place += 1) {
        rows.push({ runId: 'r', number: rows.length, at: 1, kind: 'custom', payload, message: null });
      }
      if (notify) notifications.emit('notification', 'r');
    },
    notify: (payload: string | null) => notifications.emit('notification', payload),
    fail: (value: boolean) => (failing = value),
    subscribers: () => notifications.listenerCount('notification'),
  };
}

const never = new AbortController().signal;
// All readers of a test wait on it.
setMaxListeners(0, never);

async function read(reader: { next(signal: AbortSignal, ms: number): Promise<RunEvent[]> }, count: number) {
  const numbers: number[] = [];
  while (numbers.length < count) {
    const events = await reader.next(never, 2_000);
    if (events.length === 0) break;
    numbers.push(...events.map((event) => event.number));
  }
  return numbers;
}

const upTo = (count: number, from = 0): number[] => Array.from({ length: count }, (_, place) => place + from);

describe('readers of a run', () => {
  it('get every event once and in order, those from before and those that come', async () => {
    const log = fakeLog();
    log.add(450);
    const feeds = createRunFeeds(log);
    const reader = await feeds.open('r', -1);
    expect(await read(reader, 450)).toEqual(upTo(450));
    log.add(3);
    expect(await read(reader, 3)).toEqual([450, 451, 452]);
    reader.close();
    feeds.close();
    expect(log.subscribers()).toBe(0);
  });

  it('share one read of what is new, however many they are', async () => {
    const log = fakeLog();
    const feeds = createRunFeeds(log);
    const readers = await Promise.all(Array.from({ length: 50 }, () => feeds.open('r', -1)));
    const waiting = readers.map((reader) => reader.next(never, 2_000));
    await new Promise((wake) => setImmediate(wake));
    const before = log.state.reads;
    log.add(1);
    expect((await Promise.all(waiting)).map((events) => events.length)).toEqual(readers.map(() => 1));
    expect(log.state.reads - before).toBeLessThanOrEqual(2);
    readers.forEach((reader) => reader.close());
    feeds.close();
  });

  it('lose nothing when they are far behind what the process keeps', async () => {
    const log = fakeLog();
    const feeds = createRunFeeds(log);
    const fast = await feeds.open('r', -1);
    const slow = await feeds.open('r', -1);
    for (let batch = 0; batch < 20; batch += 1) {
      log.add(100);
      await read(fast, 100);
    }
    expect(await read(slow, 2_000)).toEqual(upTo(2_000));
    fast.close();
    slow.close();
    feeds.close();
  });

  it('are woken by the poll when a notification got lost, and by the return of the listener', async () => {
    const log = fakeLog();
    const feeds = createRunFeeds({ ...log, pollMs: 30 });
    const reader = await feeds.open('r', -1);
    const first = reader.next(never, 2_000);
    log.add(1, { notify: false });
    expect(await first).toHaveLength(1);
    feeds.close();

    const unpolled = createRunFeeds({ ...log, pollMs: 60_000 });
    const second = await unpolled.open('r', 0);
    const waiting = second.next(never, 2_000);
    await new Promise((wake) => setImmediate(wake));
    log.add(1, { notify: false });
    log.notify(null);
    expect(await waiting).toHaveLength(1);
    unpolled.close();
  });

  it('wait while the database is away, and go on when it is back', async () => {
    const log = fakeLog();
    const feeds = createRunFeeds({ ...log, pollMs: 20 });
    const reader = await feeds.open('r', -1);
    log.fail(true);
    log.add(2);
    const waiting = reader.next(never, 2_000);
    await new Promise((wake) => setTimeout(wake, 60));
    log.fail(false);
    expect(await waiting).toHaveLength(2);
    reader.close();
    feeds.close();
  });

  it('come back empty when the time is over or they are stopped', async () => {
    const log = fakeLog();
    const feeds = createRunFeeds(log);
    const reader = await feeds.open('r', -1);
    expect(await reader.next(never, 10)).toEqual([]);
    const controller = new AbortController();
    const waiting = reader.next(controller.signal, 60_000);
    controller.abort();
    expect(await waiting).toEqual([]);
    feeds.close();
  });
});
