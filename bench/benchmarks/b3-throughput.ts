import type { BenchContext, Benchmark, Target } from '../benchmark';
import { langGraphContender, productContender, temporalContender } from '../load/contender';
import type { Contender } from '../load/contender';
import { loadRows } from '../load/load-rows';
import { measureLoad } from '../load/measure-load';
import type { Load, LoadFigures } from '../load/measure-load';
import type { Peer } from '../peer';
import type { Referee } from '../referee';
import type { Servers } from '../servers';
import type { System } from '../system';

const TURNS = 10;
const CLIENTS = [1, 16, 64] as const;
const DURATION_MS = 15_000;
const QUICK_DURATION_MS = 3_000;
/** It works on ten runs at once unless told otherwise: with a job for each client, no run waits for that. */
const LANGGRAPH = 'langgraph-api-64';

const NAMES = ['product', LANGGRAPH, 'temporal'] as const;

type Name = (typeof NAMES)[number];

/** One entry per repeat. */
type Figures = Record<Name, LoadFigures[]>;

/** Of runs per second. One client alone waits most of the time: there is no rate that it must reach. */
function targetsOf(clients: number): Target[] {
  const ratios: Target[] = [
    { peer: LANGGRAPH, limit: 0.7, aim: 1 },
    { peer: 'temporal', limit: 0.7 },
  ];
  return clients === 1 ? ratios : [...ratios, { limit: 8 }];
}

interface Stage {
  servers: Servers;
  referee: Referee;
  system: System;
  temporal: Peer;
}

export const throughput: Benchmark = {
  name: 'B3',
  title: 'Throughput and CPU',
  about:
    `Runs of ${TURNS} turns in a closed loop: each client begins its next run when the last one has ended. Clients of ` +
    'the product and of the API server read HTTP streams, by the same code; those of the bare workflow wait for its ' +
    'result. CPU is of all processes that work for a run; the referee and the client are counted apart.',
  async run(context) {
    const [servers, referee] = [await context.servers(), await context.referee()];
    const system = await context.system({ servers, referee });
    const temporal = await context.peer({ name: 'temporal', servers, referee, folder: await context.folder() });
    const stage: Stage = { servers, referee, system, temporal };
    const durationMs = context.quick ? QUICK_DURATION_MS : DURATION_MS;
    context.note(`Each load begins runs for ${durationMs / 1_000} s and finishes them all.`);
    context.note('The API server is a new process for each load.');
    const figures = CLIENTS.map((): Figures => ({ product: [], [LANGGRAPH]: [], temporal: [] }));
    for (let repeat = 1; repeat <= context.repeats; repeat += 1) {
      for (const [place, clients] of CLIENTS.entries()) {
        for (const name of NAMES) {
          const load = { name: `b3-${name}-${clients}-${repeat}`, turns: TURNS, clients, durationMs };
          const measured = await measure(context, stage, name, load);
          context.log(`repeat ${repeat}, ${name}: ${describe(load, measured)}`);
          figures[place]?.[name].push(measured);
        }
      }
    }
    return CLIENTS.flatMap((clients, place) => loadRows(clients, figures[place] ?? {}, targetsOf(clients)));
  },
};

async function measure(context: BenchContext, stage: Stage, name: Name, load: Load): Promise<LoadFigures> {
  const { servers, referee, system, temporal } = stage;
  const on = (contender: Contender) => measureLoad(context, contender, referee, load);
  switch (name) {
    case 'product':
      return on(productContender(system));
    case 'temporal':
      return on(temporalContender(temporal, servers));
    case LANGGRAPH: {
      // It writes all its state to a file once it idles: a process that lived on would do so in somebody else's time.
      const peer = await context.peer({ name, servers, referee, folder: await context.folder() });
      try {
        return await on(await langGraphContender(peer));
      } finally {
        await peer.kill();
      }
    }
  }
}

function describe({ clients }: Load, { runs, runsPerSecond, cpu }: LoadFigures): string {
  return `${clients} clients, ${runs} runs, ${runsPerSecond.toFixed(2)}/s, ${cpu.toFixed(3)} CPU s per run`;
}
