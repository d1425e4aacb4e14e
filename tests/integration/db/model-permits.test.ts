import { setTimeout as delay } from 'node:timers/promises';
import { createModelPermits } from '../../../activities';
import type { ModelPermits } from '../../../activities/model-permits';
import { AppError } from '../../../contracts';
import { createLogger } from '../../../observability';
import type { ModelReply } from '../../../models';
import type { TestDatabase } from '../../support/test-database';
import { openTestDatabase } from '../../support/test-database';

let test: TestDatabase;

beforeAll(async () => {
  test = await openTestDatabase();
});
afterAll(() => test.close());

const LEASE_MS = 900;
const REPLY: ModelReply = {
  content: 'ok',
  toolCalls: [],
  usage: null,
  finishReason: 'stop',
  additionalKwargs: {},
  responseMetadata: {},
};

/**
 * The permits of one worker; all of them share the database.
 *
 * @param seen Told once a call has asked for its turn or place.
 */
const worker = ({ seen = () => undefined }: { seen?: () => void } = {}): ModelPermits =>
  createModelPermits({
    store: {
      ...test.stores.permits,
      admit: (...wish) => test.stores.permits.admit(...wish).finally(seen),
      takeSlot: (...wish) => test.stores.permits.takeSlot(...wish).finally(seen),
    },
    log: createLogger({ name: 'test', level: 'silent' }),
    leaseMs: LEASE_MS,
    circuitFreshMs: 50,
  });

const never = new AbortController().signal;
let names = 0;
const freshName = (): string => `model-${(names += 1)}`;

interface Pace {
  requests_per_minute: number;
  group?: string;
  max_wait_seconds: number;
  max_queue_size: number;
}
const pace = (perMinute: number, parts: Partial<Pace> = {}): Pace => ({
  requests_per_minute: perMinute,
  max_wait_seconds: 30,
  max_queue_size: 256,
  ...parts,
});

/** One call whose dispatch is noted. */
function caller(model: string, admission: Pace, dispatched: Array<{ name: string; at: number }>) {
  return (permits: ModelPermits, name: string, signal: AbortSignal = never): Promise<ModelReply> =>
    permits.attempt({ model, admission, maxConcurrent: 0, signal }, () => {
      dispatched.push({ name, at: performance.now() });
      return Promise.resolve(REPLY);
    });
}

const gaps = (dispatched: ReadonlyArray<{ at: number }>): number[] =>
  dispatched.slice(1).map(({ at }, index) => at - (dispatched[index]?.at ?? 0));

describe('the pace of a model over all workers', () => {
  it('lets the first call go at once and spaces the others, in the order in which they came', async () => {
    const dispatched: Array<{ name: string; at: number }> = [];
    const call = caller(freshName(), pace(600), dispatched);
    const calls: Promise<ModelReply>[] = [];
    for (let index = 0; index < 9; index += 1) {
      // Each comes when the one before it has been seen.
      await new Promise<void>((seen) => calls.push(call(worker({ seen }), String(index))));
    }
    await Promise.all(calls);
    expect(dispatched.map(({ name }) => name)).toEqual([...'012345678']);
    // A dispatch may be late, which shortens the gap that follows by as much.
    expect(Math.min(...gaps(dispatched))).toBeGreaterThan(60);
    expect((dispatched.at(-1)?.at ?? 0) - (dispatched[0]?.at ?? 0)).toBeGreaterThan(790);
  });

  it('keeps its spacing after idle time: nothing is saved up', async () => {
    const dispatched: Array<{ name: string; at: number }> = [];
    const call = caller(freshName(), pace(300), dispatched);
    const permits = worker();
    await call(permits, 'first');
    await delay(700);
    await Promise.all([call(permits, 'a'), call(permits, 'b')]);
    expect(gaps(dispatched)[1]).toBeGreaterThan(180);
  });

  it('is one for all models of a group, and never that of a model with the group’s name', async () => {
    const dispatched: Array<{ name: string; at: number }> = [];
    const group = freshName();
    const permits = worker();
    const begun = performance.now();
    await caller(freshName(), pace(60, { group }), dispatched)(permits, 'a');
    await caller(group, pace(60), dispatched)(permits, 'other name space');
    expect(performance.now() - begun).toBeLessThan(900);
    await caller(freshName(), pace(60, { group }), dispatched)(permits, 'b');
    expect((dispatched[2]?.at ?? 0) - (dispatched[0]?.at ?? 0)).toBeGreaterThan(950);
  });

  it('refuses a call at once when the queue is full', async () => {
    const dispatched: Array<{ name: string; at: number }> = [];
    const call = caller(freshName(), pace(120, { max_queue_size: 1 }), dispatched);
    const permits = worker();
    await call(permits, 'goes');
    const waiting = call(permits, 'waits');
    await delay(50);
    await expect(call(worker(), 'refused')).rejects.toMatchObject({
      code: 'model_admission',
      retryable: false,
      message: 'LLM admission queue is full; reduce workload or increase queue capacity.',
    });
    await waiting;
    expect(dispatched.map(({ name }) => name)).toEqual(['goes', 'waits']);
  });

  it('gives up a wait that is too long, and that spends nothing', async () => {
    const dispatched: Array<{ name: string; at: number }> = [];
    const model = freshName();
    const short = pace(60, { max_wait_seconds: 0.2 });
    const call = caller(model, short, dispatched);
    await call(worker(), 'goes');
    await expect(call(worker(), 'gives up')).rejects.toMatchObject({
      code: 'model_admission',
      message: expect.stringMatching(/^LLM admission timed out before dispatch; increase max_wait_seconds/) as string,
    });
    const { rows } = await test.database.pool.query('select 1 from model_waiters where key = $1', [`model:${model}`]);
    expect(rows).toEqual([]);
  });

  it('gives the turn of a call that was stopped to the next one, without a gap', async () => {
    const dispatched: Array<{ name: string; at: number }> = [];
    const call = caller(freshName(), pace(60), dispatched);
    await call(worker(), 'first');
    const abort = new AbortController();
    const stopped = call(worker(), 'stopped', abort.signal);
    await delay(50);
    const next = call(worker(), 'next');
    await delay(50);
    abort.abort(new Error('stopped by its user'));
    await expect(stopped).rejects.toThrow('stopped by its user');
    await next;
    expect(dispatched.map(({ name }) => name)).toEqual(['first', 'next']);
    expect(gaps(dispatched)[0]).toBeLessThan(1_900);
  });

  it('frees the place of a worker that died while it waited', async () => {
    const dispatched: Array<{ name: string; at: number }> = [];
    const model = freshName();
    const admission = pace(600);
    const call = caller(model, admission, dispatched);
    const { group, ...policy } = { group: undefined, ...admission };
    expect(group).toBeUndefined();
    const place = { key: `model:${model}`, policy };
    await call(worker(), 'first');
    // Takes a place and is never heard of again.
    expect((await test.stores.permits.admit(place, null, LEASE_MS)).state).toBe('waiting');
    const begun = performance.now();
    await call(worker(), 'second');
    const waited = performance.now() - begun;
    expect(waited).toBeGreaterThan(LEASE_MS / 2);
    expect(waited).toBeLessThan(LEASE_MS + 2_000);
  });

  it('refuses another policy while one is in force, and takes it when nobody is left', async () => {
    const dispatched: Array<{ name: string; at: number }> = [];
    const model = freshName();
    await caller(model, pace(240), dispatched)(worker(), 'old');
    await expect(caller(model, pace(600), dispatched)(worker(), 'new')).rejects.toMatchObject({
      code: 'configuration',
      message: expect.stringMatching(/^Model request admission policy changed or conflicts/) as string,
    });
    await delay(300);
    await caller(model, pace(600), dispatched)(worker(), 'new');
    expect(dispatched.map(({ name }) => name)).toEqual(['old', 'new']);
  });
});

describe('the limit on calls under way, over all workers', () => {
  const held = async (permits: ModelPermits, limit: number, work: () => Promise<void>): Promise<void> => {
    const wish = { model: 'm', admission: undefined, maxConcurrent: limit, signal: never };
    await permits.attempt(wish, async () => {
      await work();
      return REPLY;
    });
  };

  const slots = async (which: 'held' | 'not held', expected: number): Promise<void> => {
    for (const deadline = performance.now() + 10_000; performance.now() < deadline; await delay(10)) {
      const { rowCount } = await test.database.pool.query(`select 1 from model_slots where ${which}`);
      if (rowCount === expected) return;
    }
    throw new Error(`There were never ${expected} places that are ${which}.`);
  };

  it('is never exceeded, and calls go in the order in which they came', async () => {
    let running = 0;
    let most = 0;
    const order: number[] = [];
    const calls: Promise<void>[] = [];
    for (let index = 0; index < 6; index += 1) {
      const work = async () => {
        order.push(index);
        most = Math.max(most, (running += 1));
        await delay(150);
        running -= 1;
      };
      await new Promise<void>((seen) => calls.push(held(worker({ seen }), 2, work)));
    }
    await Promise.all(calls);
    expect(most).toBe(2);
    expect(order).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('is asked for often by the first of a worker alone, so that many can wait', async () => {
    const calls = 40;
    let asked = 0;
    const { permits: store } = test.stores;
    const takeSlot: typeof store.takeSlot = (...wish) => {
      asked += 1;
      return store.takeSlot(...wish);
    };
    const permits = createModelPermits({
      store: { ...store, takeSlot },
      log: createLogger({ name: 'test', level: 'silent' }),
      leaseMs: LEASE_MS,
    });
    const order: number[] = [];
    await Promise.all(
      Array.from({ length: calls }, (_, index) =>
        held(permits, 1, async () => {
          order.push(index);
          if (index === 0) await delay(2 * LEASE_MS);
        }),
      ),
    );
    expect(order).toHaveLength(calls);
    // Each asking every 100 milliseconds would be more than 700.
    expect(asked).toBeLessThan(400);
  });

  it('counts a call again whose lease ended while the database was away', async () => {
    const order: string[] = [];
    let end = (): void => undefined;
    const first = held(worker(), 1, async () => {
      await new Promise<void>((resolve) => (end = resolve));
      order.push('first');
    });
    await slots('held', 1);
    await test.database.pool.query('delete from model_slots');
    await slots('held', 1);
    const next = held(worker(), 1, () => Promise.resolve(void order.push('next')));
    await slots('not held', 1);
    end();
    await Promise.all([first, next]);
    expect(order).toEqual(['first', 'next']);
  });

  it('is left to the next one by a call that was stopped while it waited', async () => {
    const abort = new AbortController();
    let end = (): void => undefined;
    let stopped: Promise<unknown> | undefined;
    let next: Promise<void> | undefined;
    const first = held(worker(), 1, async () => {
      const permits = worker();
      stopped = permits.attempt({ model: 'm', admission: undefined, maxConcurrent: 1, signal: abort.signal }, () =>
        Promise.resolve(REPLY),
      );
      stopped.catch(() => undefined);
      await slots('not held', 1);
      next = held(permits, 1, () => Promise.resolve());
      await slots('not held', 2);
      await new Promise<void>((resolve) => (end = resolve));
    });
    await slots('not held', 2);
    abort.abort(new Error('stopped by its user'));
    await expect(stopped).rejects.toThrow('stopped by its user');
    await slots('not held', 1);
    end();
    await Promise.all([first, next]);
    await slots('not held', 0);
  });

  it('holds for calls that take longer than a lease, and not for workers that died', async () => {
    const order: string[] = [];
    const long = held(worker(), 1, async () => {
      await delay(2 * LEASE_MS);
      order.push('long');
    });
    await delay(50);
    await held(worker(), 1, () => Promise.resolve(void order.push('next')));
    await long;
    expect(order).toEqual(['long', 'next']);

    expect(await test.stores.permits.takeSlot(1, null, LEASE_MS)).toMatchObject({ held: true });
    const begun = performance.now();
    await held(worker(), 1, () => Promise.resolve());
    expect(performance.now() - begun).toBeLessThan(LEASE_MS + 2_000);
  });
});

describe('the circuit of a model, over all workers', () => {
  const SETTINGS = { failure_threshold: 2, recovery_timeout_sec: 0.6 };
  const fails =
    (reason: string, code: 'model_unavailable' | 'model_auth' = 'model_unavailable') =>
    () =>
      Promise.reject(new AppError(code, 'no', { detail: { reason } }));
  const answers = () => Promise.resolve(REPLY);
  const open = { code: 'model_circuit_open', retryable: false };

  it('opens after failures in a row, lets one call try, and closes when that succeeds', async () => {
    const model = freshName();
    const [one, two] = [worker(), worker()];
    await expect(one.call(model, SETTINGS, fails('transient'))).rejects.toMatchObject({ code: 'model_unavailable' });
    await expect(two.call(model, SETTINGS, fails('stalled'))).rejects.toMatchObject({ code: 'model_unavailable' });
    await delay(60);
    const asked = jest.fn(answers);
    await expect(one.call(model, SETTINGS, asked)).rejects.toMatchObject(open);
    await expect(two.call(model, SETTINGS, asked)).rejects.toMatchObject(open);
    expect(asked).not.toHaveBeenCalled();

    await delay(650);
    const slow = async () => {
      await delay(150);
      return REPLY;
    };
    const probe = one.call(model, SETTINGS, slow);
    await delay(50);
    await expect(two.call(model, SETTINGS, asked)).rejects.toMatchObject(open);
    await probe;
    await delay(60);
    await two.call(model, SETTINGS, asked);
    expect(asked).toHaveBeenCalledTimes(1);
  });

  it('opens again when the try fails, and is free for another try when that said nothing about the model', async () => {
    const model = freshName();
    const permits = worker();
    for (let count = 0; count < 2; count += 1)
      await permits.call(model, SETTINGS, fails('empty')).catch(() => undefined);
    await delay(650);
    await expect(permits.call(model, SETTINGS, fails('auth', 'model_auth'))).rejects.toMatchObject({
      code: 'model_auth',
    });
    await expect(permits.call(model, SETTINGS, fails('transient'))).rejects.toMatchObject({
      code: 'model_unavailable',
    });
    await expect(permits.call(model, SETTINGS, answers)).rejects.toMatchObject(open);
  });

  it('is tried by another worker soon after the one that tried it died, and by one alone for as long as a try takes', async () => {
    const model = freshName();
    const permits = worker();
    for (let count = 0; count < 2; count += 1)
      await permits.call(model, SETTINGS, fails('transient')).catch(() => undefined);
    await delay(650);
    const dead = createModelPermits({
      store: { ...test.stores.permits, renewProbe: () => Promise.resolve() },
      log: createLogger({ name: 'test', level: 'silent' }),
      leaseMs: LEASE_MS,
    });
    let release = (_reply: ModelReply): void => undefined;
    let unheardOf: Promise<ModelReply> | undefined;
    await new Promise<void>((begun) => {
      unheardOf = dead.call(model, SETTINGS, () => {
        begun();
        return new Promise<ModelReply>((resolve) => (release = resolve));
      });
    });
    await expect(permits.call(model, SETTINGS, answers)).rejects.toMatchObject(open);
    await delay(LEASE_MS + 50);
    const long = permits.call(model, SETTINGS, async () => {
      await delay(2 * LEASE_MS);
      return REPLY;
    });
    await delay(LEASE_MS + 50);
    await expect(worker().call(model, SETTINGS, answers)).rejects.toMatchObject(open);
    await expect(long).resolves.toBe(REPLY);
    await expect(worker().call(model, SETTINGS, answers)).resolves.toBe(REPLY);
    release(REPLY);
    await unheardOf;
  });

  it('never costs a reply that was paid for, nor hides why there is none, when the database is away', async () => {
    const model = freshName();
    const away = () => Promise.reject(new AppError('unavailable', 'The database is not available.'));
    const { permits: store } = test.stores;
    const permits = createModelPermits({
      store: { ...store, closeCircuit: away, countFailure: away, freeProbe: away },
      log: createLogger({ name: 'test', level: 'silent' }),
      circuitFreshMs: 50,
    });
    await worker()
      .call(model, SETTINGS, fails('transient'))
      .catch(() => undefined);
    await expect(permits.call(model, SETTINGS, answers)).resolves.toBe(REPLY);
    await expect(permits.call(model, SETTINGS, fails('transient'))).rejects.toMatchObject({
      code: 'model_unavailable',
    });
  });

  it('counts neither bursts nor refusals, and a success starts the count anew', async () => {
    const model = freshName();
    const permits = worker();
    for (let count = 0; count < 3; count += 1) {
      await permits.call(model, SETTINGS, fails('burst')).catch(() => undefined);
      await permits.call(model, SETTINGS, fails('auth', 'model_auth')).catch(() => undefined);
    }
    await permits.call(model, SETTINGS, fails('transient')).catch(() => undefined);
    await permits.call(model, SETTINGS, answers);
    await permits.call(model, SETTINGS, fails('transient')).catch(() => undefined);
    await expect(permits.call(model, SETTINGS, answers)).resolves.toBe(REPLY);
  });
});
