import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { createModelPermits } from '../../activities';
import { createDatabase, createModelPermitStore, migrate } from '../../db';
import type { Database } from '../../db';
import type { ModelReply } from '../../models';
import { createSilentLogger } from '../../observability';
import type { BenchContext, Benchmark, Row } from '../benchmark';
import { arrivalsOf, pacedWorkers } from '../pacing';
import type { Servers } from '../servers';
import { percentile, sample } from '../statistics';

const CALLS = 2_000;
const QUICK_CALLS = 100;
const PER_MINUTE = 60;
const PACED_CALLS = 61;
const QUICK_PACED_CALLS = 4;
const QUICK_PROCESS_CALLS = 9;
const WORKERS = 3;
const LIMIT_MS = 2;

const REPLY: ModelReply = {
  content: '',
  toolCalls: [],
  usage: null,
  finishReason: 'stop',
  additionalKwargs: {},
  responseMetadata: {},
};

type Permits = ReturnType<typeof createModelPermits>;

export const admission: Benchmark = {
  name: 'ADMISSION',
  title: 'Admission of model calls',
  about:
    'What `request_admission` adds to a model call that need not wait, as a median and a 99th percentile over many ' +
    `calls one after the other; and ${PACED_CALLS} calls at ${PER_MINUTE} a minute, made by ${WORKERS} workers with ` +
    'a connection pool each, from the first dispatch to the last. They must go in the order in which they came. The same ' +
    'by as many worker processes with a run for each call, one of which is killed in the middle, by the clock of the ' +
    'model: none may come twice, too early or, but for those that waited in the killed worker, out of order.',
  async run(context) {
    const medians: number[] = [];
    const slowest: number[] = [];
    const servers = await context.servers();
    const { databaseUrl } = servers;
    const schema = 'admission';
    const open = (): Database => {
      const database = createDatabase({ url: databaseUrl, schema, maxConnections: 5, applicationName: 'bench' });
      context.onClose(() => database.close());
      return database;
    };
    const databases = Array.from({ length: WORKERS }, open);
    await migrate(databases[0] ?? open());
    const permits = databases.map((database) =>
      createModelPermits({ store: createModelPermitStore(database), log: createSilentLogger() }),
    );
    const [first] = permits;
    if (first === undefined) throw new Error('There is no worker.');
    for (let repeat = 1; repeat <= context.repeats; repeat += 1) {
      const times = await unhindered(context, first);
      medians.push(percentile(times, 50));
      slowest.push(percentile(times, 99));
      context.log(`repeat ${repeat}: ${percentile(times, 50).toFixed(2)} ms a call`);
    }
    const seconds = await paced(context, permits);
    return [
      {
        metric: 'admission of a call at no wait, median',
        unit: 'ms',
        better: 'lower',
        product: sample(medians),
        peers: {},
        targets: [{ limit: LIMIT_MS }],
      },
      {
        metric: 'admission of a call at no wait, 99th percentile',
        unit: 'ms',
        better: 'lower',
        product: sample(slowest),
        peers: {},
      },
      {
        metric: `${context.quick ? QUICK_PACED_CALLS : PACED_CALLS} calls at ${PER_MINUTE} a minute over ${WORKERS} workers`,
        unit: 's',
        better: 'lower',
        product: sample([seconds]),
        peers: {},
      },
      ...(await processes(context, servers)),
    ];
  },
};

/** Milliseconds of each call; the pace is so quick that none has to wait. */
async function unhindered({ quick, signal }: BenchContext, permits: Permits): Promise<number[]> {
  const pace = { requests_per_minute: 60_000_000, max_wait_seconds: 300, max_queue_size: 256 };
  const times: number[] = [];
  for (let count = 0; count < (quick ? QUICK_CALLS : CALLS); count += 1) {
    signal.throwIfAborted();
    const begun = performance.now();
    await permits.attempt({ model: 'quick', admission: pace, maxConcurrent: 0, signal }, () => Promise.resolve(REPLY));
    times.push(performance.now() - begun);
  }
  return times;
}

/** Seconds from the first dispatch to the last. */
async function paced(context: BenchContext, permits: readonly Permits[]): Promise<number> {
  const count = context.quick ? QUICK_PACED_CALLS : PACED_CALLS;
  const pace = { requests_per_minute: PER_MINUTE, max_wait_seconds: 300, max_queue_size: 256, group: 'account' };
  // With open connections, calls reach the database in the order in which they are made.
  for (const worker of permits) await unhindered({ ...context, quick: true }, worker);
  const dispatched: Array<{ index: number; at: number }> = [];
  const calls: Array<Promise<ModelReply>> = [];
  // All of them wait for it at once.
  setMaxListeners(0, context.signal);
  for (let index = 0; index < count; index += 1) {
    const wish = { model: 'paced', admission: pace, maxConcurrent: 0, signal: context.signal };
    const worker = permits[index % permits.length];
    if (worker === undefined) throw new Error('There is no worker.');
    const dispatch = () => {
      dispatched.push({ index, at: performance.now() });
      return Promise.resolve(REPLY);
    };
    calls.push(worker.attempt(wish, dispatch));
    // One after the other, so that there is an order in which they came.
    await delay(5);
  }
  await Promise.all(calls);
  const seconds = ((dispatched.at(-1)?.at ?? 0) - (dispatched[0]?.at ?? 0)) / 1000;
  if (seconds < ((count - 1) * 60) / PER_MINUTE - 0.05) context.broken(`the calls took ${seconds.toFixed(2)} s`);
  if (dispatched.some(({ index }, place) => index !== place)) context.broken('a call overtook another');
  return seconds;
}

/** The same with real processes, by the clock of the model. */
async function processes(context: BenchContext, servers: Servers): Promise<Row[]> {
  const calls = context.quick ? QUICK_PROCESS_CALLS : PACED_CALLS;
  const killAfter = Math.floor(calls / 3);
  const made = await pacedWorkers(context, { servers, workers: WORKERS, calls, perMinute: PER_MINUTE, killAfter });
  const { seconds, shortestMs, longestMs, faults } = arrivalsOf(made, 60_000 / PER_MINUTE);
  for (const fault of faults) context.broken(fault);
  const row = (metric: string, unit: string, value: number): Row => ({
    metric,
    unit,
    better: 'lower',
    product: sample([value]),
    peers: {},
  });
  return [
    row(`${calls} calls of ${WORKERS} worker processes, one killed`, 's', seconds),
    { ...row('shortest time between two of them', 'ms', shortestMs), better: 'higher' },
    row('longest time between two of them', 'ms', longestMs),
  ];
}
