import { setTimeout as delay } from 'node:timers/promises';
import type { BenchContext, Benchmark, Row, Target } from '../benchmark';
import { runAgent } from '../load/agent-run';
import type { AgentRun, ApiTarget } from '../load/agent-run';
import { apiTarget, langGraphTarget } from '../load/contender';
import { expectSuccess } from '../load/finished-runs';
import { brokenCounts, workOf } from '../load/work';
import type { Work } from '../load/work';
import { percentile, sample } from '../statistics';

/** As it comes, and with so many jobs that one of them nearly always looks for work. */
const PEERS = ['langgraph-api', 'langgraph-api-64'] as const;
const [PEER] = PEERS;
const TURNS = 10;
const SAMPLES = 40;
const QUICK_SAMPLES = 8;
const WARM_UP = 15;
/** What a system does after the end of a stream must not fall into the time of the next. */
const PAUSE_MS = 50;

type Medians = Pick<AgentRun, 'firstEventMs' | 'firstStateMs' | 'lastStateMs' | 'endMs'>;

interface Side {
  name: string;
  target: ApiTarget;
  work: Work;
  /** How many it made. */
  runs: number;
  /** One per repeat. */
  repeats: Medians[];
}

export const latency: Benchmark = {
  name: 'B2',
  title: 'Latency of a run',
  about:
    `A run of ${TURNS} turns on a new thread by POST /threads/{id}/runs/stream with stream mode "values", one at a ` +
    'time, by the same client. Each value is the median of many runs; those of the product and of the peers alternate.',
  async run(context) {
    const [servers, referee] = [await context.servers(), await context.referee()];
    const product = sideOf('product', apiTarget((await context.system({ servers, referee })).url, '/api'));
    const peers: Side[] = [];
    for (const name of PEERS) {
      const peer = await context.peer({ name, servers, referee, folder: await context.folder() });
      peers.push(sideOf(name, await langGraphTarget(peer)));
    }
    const sides = [product, ...peers];
    const count = context.quick ? QUICK_SAMPLES : SAMPLES;
    takeNotes(context, count);
    await alternate(context, sides, WARM_UP);
    for (let repeat = 1; repeat <= context.repeats; repeat += 1) {
      const medians = await alternate(context, sides, count);
      sides.forEach((side, place) => side.repeats.push(...medians.slice(place, place + 1)));
      const ends = sides.map(({ name, repeats }) => `${name} ${repeats.at(-1)?.endMs.toFixed(1)} ms`);
      context.log(`repeat ${repeat}, to the end: ${ends.join(', ')}`);
    }
    const counts = await referee.counts();
    for (const { work, runs } of sides) for (const rule of brokenCounts(work, runs, counts)) context.broken(rule);
    return rowsOf(product, peers);
  },
};

function sideOf(name: string, target: ApiTarget): Side {
  return { name, target, work: workOf(TURNS, `b2-${name}`), runs: 0, repeats: [] };
}

function takeNotes(context: BenchContext, count: number): void {
  context.note(`${count} runs per repeat and system, after ${WARM_UP} that are not counted.`);
  context.note(
    'The API server has jobs that look for new runs now and then, and closes a stream half a second after the last ' +
      'event. Both count in "to the end", for its clients wait for both; "to the last state" leaves the closing out.',
  );
}

/** Gives the medians of each side. */
async function alternate(context: BenchContext, sides: readonly Side[], count: number): Promise<Medians[]> {
  const { signal } = context;
  const runs: AgentRun[][] = sides.map(() => []);
  for (let round = 0; round < count; round += 1) {
    for (const [place, side] of sides.entries()) {
      await delay(PAUSE_MS, undefined, { signal });
      runs[place]?.push(await runAgent(side.target, { work: side.work, signal }));
      side.runs += 1;
    }
  }
  for (const [place, { target }] of sides.entries()) await expectSuccess(target, runs[place] ?? [], signal);
  return runs.map(mediansOf);
}

function mediansOf(runs: readonly AgentRun[]): Medians {
  const median = (measure: keyof Medians): number => {
    const values = runs.map((run) => run[measure]);
    return percentile(values, 50);
  };
  return {
    firstEventMs: median('firstEventMs'),
    firstStateMs: median('firstStateMs'),
    lastStateMs: median('lastStateMs'),
    endMs: median('endMs'),
  };
}

function rowsOf(product: Side, peers: readonly Side[]): Row[] {
  const row = (metric: string, measure: keyof Medians, targets?: Target[]): Row => {
    const sampleOf = ({ repeats }: Side) => sample(repeats.map((medians) => medians[measure]));
    return {
      metric,
      unit: 'ms',
      better: 'lower',
      product: sampleOf(product),
      peers: Object.fromEntries(peers.map((peer) => [peer.name, sampleOf(peer)])),
      ...(targets === undefined ? {} : { targets }),
    };
  };
  return [
    row('create to first event', 'firstEventMs', [{ peer: PEER, limit: 1, aim: 0.5 }]),
    row('create to first state', 'firstStateMs'),
    row(`create to last state, ${TURNS} turns`, 'lastStateMs'),
    row(`create to end, ${TURNS} turns`, 'endMs', [{ peer: PEER, limit: 0.4, aim: 0.25 }, { limit: 240 }]),
  ];
}
