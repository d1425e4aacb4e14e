/** One load on one contender: how many runs it ends in a second, and what CPU they cost, process by process. */
import { setTimeout as delay } from 'node:timers/promises';
import type { BenchContext } from '../benchmark';
import { cpuSeconds } from '../processes';
import type { Referee } from '../referee';
import { percentile } from '../statistics';
import { closedLoop } from './closed-loop';
import type { Contender, Part } from './contender';
import { brokenCounts, workOf } from './work';

export interface Load {
  /** Unique: it marks the referee's counts. */
  name: string;
  turns: number;
  clients: number;
  /** No run begins after so long. */
  durationMs: number;
}

export interface LoadFigures {
  runs: number;
  runsPerSecond: number;
  /** Of a run, from its creation to its end. */
  medianMs: number;
  /** CPU seconds per run: of each kind of process that the contender has, and of all of them. */
  parts: Partial<Record<Part, number>>;
  cpu: number;
  refereeCpu: number;
  /** Of this process: next to nothing where a contender is its own client. */
  clientCpu: number;
}

/** For every load alike: a contender that is a new process must not pay for its first runs with one client. */
const WARM_UP_MS = 3_000;
const WARM_UP_CLIENTS = 8;
/** What is done after the end of a stream belongs to the run, too. */
const SETTLE_MS = 500;

export async function measureLoad(
  context: BenchContext,
  contender: Contender,
  referee: Referee,
  { name, turns, clients, durationMs }: Load,
): Promise<LoadFigures> {
  const { signal } = context;
  const loop = async (tag: string, count: number, limitMs: number) => {
    const work = workOf(turns, tag);
    const loop = await closedLoop({
      clients: count,
      durationMs: limitMs,
      signal,
      work: () => contender.run(work, signal),
    });
    await delay(SETTLE_MS, undefined, { signal });
    return { ...loop, work };
  };
  await loop(`${name}-warm-up`, WARM_UP_CLIENTS, WARM_UP_MS);
  await contender.check(signal);

  const before = readCpu(contender, referee);
  const requests = (await referee.counts()).requests;
  const { results, elapsedMs, work } = await loop(name, clients, durationMs);
  const after = readCpu(contender, referee);
  const counts = await referee.counts();

  await contender.check(signal);
  const runs = results.length;
  for (const rule of brokenCounts(work, runs, counts)) context.broken(rule);
  const unplanned = counts.requests - requests - runs * turns;
  if (unplanned !== 0)
    context.broken(`${unplanned} model calls more than ${runs} runs of ${turns} turns need (${name})`);
  const parts = Object.fromEntries(
    Object.entries(after.parts).map(([part, seconds]) => [part, (seconds - (before.parts[part as Part] ?? 0)) / runs]),
  );
  return {
    runs,
    runsPerSecond: (runs * 1_000) / elapsedMs,
    medianMs: percentile(results, 50),
    parts,
    cpu: Object.values(parts).reduce((sum, seconds) => sum + seconds, 0),
    refereeCpu: (after.referee - before.referee) / runs,
    clientCpu: (after.client - before.client) / runs,
  };
}

interface CpuReading {
  parts: Partial<Record<Part, number>>;
  referee: number;
  client: number;
}

function readCpu(contender: Contender, referee: Referee): CpuReading {
  const parts = Object.entries(contender.processes()).map(([part, pids]) => [part, cpuSeconds(pids)]);
  const { user, system } = process.cpuUsage();
  return {
    parts: Object.fromEntries(parts) as CpuReading['parts'],
    referee: cpuSeconds(referee.pid),
    client: (user + system) / 1e6,
  };
}
