import { randomUUID } from 'node:crypto';
import type { BenchContext, Benchmark, Row } from '../benchmark';
import { peakResidentBytes, residentBytes, treeBytes } from '../processes';
import { percentile, sample } from '../statistics';
import type { System } from '../system';
import type { WaitingKind, WaitingRun, Woken } from '../waiting';
import { addWaiting, becomeDue, cancel, countWaiting, resume, together } from '../waiting';

/** Delayed runs weigh on the Temporal server; interrupted ones are rows alone, but each makes a turn first. */
const WAITING: Record<WaitingKind, number> = { delayed: 8_000, interrupted: 2_000 };
const QUICK_WAITING: Record<WaitingKind, number> = { delayed: 800, interrupted: 200 };
const RESUMED = 200;
const QUICK_RESUMED = 50;
const CANCELLED = 50;

/** Runs that become due are created together, so that they need not be waited for one by one. */
const DUE_TOGETHER = 20;
const DUE_SOONEST_SECONDS = 1.5;
const DUE_APART_SECONDS = 0.2;

const MEGABYTE = 1_000_000;
const RESUME_LIMIT_MS = 500;
const WORKER_LIMIT_MB = 600;

interface Memory {
  worker: number;
  workerPeak: number;
  api: number;
  temporal: number;
  postgres: number;
}

interface Measured {
  resumed: Woken[];
  due: Woken[];
  cancelled: Woken[];
  memory: Memory;
}

/** Runs of each kind that wait now. Samples are taken out of it and replaced. */
type Crowd = Record<WaitingKind, WaitingRun[]>;

export const waitingRuns: Benchmark = {
  name: 'B7',
  title: 'Runs that wait',
  about:
    `${WAITING.delayed} runs wait for their time (\`after_seconds\`) and ${WAITING.interrupted} before a tool for a ` +
    `\`command.resume\`, all at once. While the others wait on, ${RESUMED} are resumed, one after the other, as many ` +
    `become due and ${CANCELLED} delayed ones are cancelled. Times to the first event are those to the first that the ` +
    'worker writes for the run: the one before it, which says that the request was accepted, comes earlier. Every ' +
    'repeat samples the same crowd, which is filled up again.',
  async run(context) {
    const waiting = context.quick ? QUICK_WAITING : WAITING;
    const [servers, referee] = [await context.servers(), await context.referee()];
    const system = await context.system({ servers, referee });
    const before = memoryOf(system);
    const crowd: Crowd = { delayed: [], interrupted: [] };
    const perSecond = {
      delayed: await fill(context, system, crowd, 'delayed', waiting.delayed),
      interrupted: await fill(context, system, crowd, 'interrupted', waiting.interrupted),
    };
    await checkCrowd(context, system, crowd);
    const repeats: Measured[] = [];
    for (let repeat = 1; repeat <= context.repeats; repeat += 1) {
      if (repeat > 1) {
        await fill(context, system, crowd, 'delayed', waiting.delayed);
        await fill(context, system, crowd, 'interrupted', waiting.interrupted);
      }
      const measured = await measure(context, system, crowd);
      context.log(
        `repeat ${repeat}: resumed ${spread(measured.resumed)}, due ${spread(measured.due)}, ` +
          `cancelled ${spread(measured.cancelled)}, worker ${Math.round(measured.memory.worker)} MB`,
      );
      repeats.push(measured);
    }
    return [...creationRows(perSecond), ...wakingRows(repeats), ...memoryRows(before, repeats)];
  },
};

/** Adds runs until so many wait. Gives back how many were created a second. */
async function fill(
  context: BenchContext,
  system: System,
  crowd: Crowd,
  kind: WaitingKind,
  waiting: number,
): Promise<number> {
  const missing = waiting - crowd[kind].length;
  const begun = performance.now();
  crowd[kind].push(...(await addWaiting(context, system, kind, missing)));
  const seconds = (performance.now() - begun) / 1000;
  context.log(`${missing} ${kind} runs in ${seconds.toFixed(1)} s`);
  return missing / seconds;
}

async function checkCrowd(context: BenchContext, system: System, crowd: Crowd): Promise<void> {
  const counted = await countWaiting(system);
  for (const kind of ['delayed', 'interrupted'] as const) {
    if (counted[kind] === crowd[kind].length) continue;
    context.broken(`of ${crowd[kind].length} ${kind} runs ${counted[kind]} wait`);
  }
}

async function measure(context: BenchContext, system: System, crowd: Crowd): Promise<Measured> {
  const count = context.quick ? QUICK_RESUMED : RESUMED;
  const resumed = await oneByOne(context, takeAny(crowd.interrupted, count), (run) => resume(system, run));
  const due = await together(count, DUE_TOGETHER, context.signal, (place) =>
    becomeDue(system, randomUUID(), DUE_SOONEST_SECONDS + (place % DUE_TOGETHER) * DUE_APART_SECONDS),
  );
  const cancelled = await oneByOne(context, takeAny(crowd.delayed, CANCELLED), (run) => cancel(system, run));
  await checkCrowd(context, system, crowd);
  return { resumed, due, cancelled, memory: memoryOf(system) };
}

/** Takes some out of all ages. */
function takeAny(runs: WaitingRun[], count: number): WaitingRun[] {
  return Array.from({ length: count }, () => runs.splice(Math.floor(Math.random() * runs.length), 1)).flat();
}

async function oneByOne(
  { signal }: BenchContext,
  runs: readonly WaitingRun[],
  wake: (run: WaitingRun) => Promise<Woken>,
): Promise<Woken[]> {
  const woken: Woken[] = [];
  for (const run of runs) {
    signal.throwIfAborted();
    woken.push(await wake(run));
  }
  return woken;
}

function memoryOf(system: System): Memory {
  const { api, worker, temporal, postgres } = system.pids();
  return {
    worker: Math.max(...worker.map(residentBytes)) / MEGABYTE,
    workerPeak: Math.max(...worker.map(peakResidentBytes)) / MEGABYTE,
    api: Math.max(...api.map(residentBytes)) / MEGABYTE,
    temporal: treeBytes(temporal) / MEGABYTE,
    postgres: treeBytes(postgres) / MEGABYTE,
  };
}

function spread(woken: readonly Woken[]): string {
  const own = woken.map(({ ownMs }) => ownMs);
  return `${percentile(own, 50).toFixed(0)}/${percentile(own, 95).toFixed(0)} ms`;
}

function row(metric: string, unit: string, values: readonly number[], limit?: number): Row {
  return {
    metric,
    unit,
    better: unit === 'runs/s' ? 'higher' : 'lower',
    product: sample(values),
    peers: {},
    ...(limit === undefined ? {} : { targets: [{ limit }] }),
  };
}

function creationRows({ delayed, interrupted }: Record<WaitingKind, number>): Row[] {
  return [
    row('delayed runs created', 'runs/s', [delayed]),
    row('runs brought to their interrupt', 'runs/s', [interrupted]),
  ];
}

function wakingRows(repeats: readonly Measured[]): Row[] {
  const of = (pick: (measured: Measured) => Woken[], time: keyof Woken, percent: number): number[] =>
    repeats.map((measured) =>
      percentile(
        pick(measured).map((woken) => woken[time]),
        percent,
      ),
    );
  const resumed = ({ resumed: woken }: Measured): Woken[] => woken;
  const due = ({ due: woken }: Measured): Woken[] => woken;
  const cancelled = ({ cancelled: woken }: Measured): Woken[] => woken;
  return [
    row('resume to first event, median', 'ms', of(resumed, 'ownMs', 50)),
    row('resume to first event, 95th percentile', 'ms', of(resumed, 'ownMs', 95), RESUME_LIMIT_MS),
    row('resume to end, median', 'ms', of(resumed, 'endMs', 50)),
    row('due time to first event, median', 'ms', of(due, 'ownMs', 50)),
    row('due time to first event, 95th percentile', 'ms', of(due, 'ownMs', 95), RESUME_LIMIT_MS),
    row('cancel of a delayed run to its end, median', 'ms', of(cancelled, 'endMs', 50)),
    row('cancel of a delayed run to its end, 95th percentile', 'ms', of(cancelled, 'endMs', 95), RESUME_LIMIT_MS),
  ];
}

function memoryRows(before: Memory, repeats: readonly Measured[]): Row[] {
  const of = (part: keyof Memory): number[] => repeats.map(({ memory }) => memory[part]);
  return [
    row('memory of the worker before', 'MB', [before.worker]),
    row('memory of the worker', 'MB', of('worker')),
    row('memory of the worker at its most', 'MB', of('workerPeak'), WORKER_LIMIT_MB),
    row('memory of the API', 'MB', of('api')),
    row('memory of the Temporal server before', 'MB', [before.temporal]),
    row('memory of the Temporal server', 'MB', of('temporal')),
    row('memory of PostgreSQL', 'MB', of('postgres')),
  ];
}
