/** B1: what a durable step costs. One run at a time, beside the same loop on other durable engines. */
import type { BenchContext, Benchmark, Row } from '../benchmark';
import type { Peer } from '../peer';
import { cpuSeconds } from '../processes';
import { makeRun } from '../product-run';
import type { Servers } from '../servers';
import { sample } from '../statistics';
import type { Sample } from '../statistics';
import { takeTurns } from '../take-turns';

/** The peers, and the server that each keeps its steps in. */
const PEERS = { dbos: 'postgres', langgraph: 'postgres', temporal: 'temporal', 'temporal-local': 'temporal' } as const;
const PEER_NAMES = ['dbos', 'langgraph', 'temporal', 'temporal-local'] as const;

interface Work {
  turns: number;
  /** How long the model is silent before it answers. */
  modelMs: number;
  warmUps: number;
}

const QUICK_MODEL: Work = { turns: 50, modelMs: 0, warmUps: 3 };
/** Longer than the product waits for a reply within a workflow task, as most models of the world take. */
const SLOW_MODEL: Work = { turns: 10, modelMs: 700, warmUps: 1 };

interface Figure {
  milliseconds: number;
  /** Of all processes that worked for the run, without the referee and the client. */
  cpuMilliseconds: number;
}

interface Contender {
  name: string;
  /** Gives back how long it took. */
  run(question: string): Promise<number>;
  pids(): number[];
}

type Figures = ReadonlyMap<string, readonly Figure[]>;

export const stepOverhead: Benchmark = {
  name: 'B1',
  title: 'What a durable step costs',
  about:
    'One run at a time, from its start to its end. Every turn is one streamed model call and one `ls`, so two durable ' +
    'steps; a last model call answers. The product is asked over HTTP and streams its updates to the client; peers ' +
    'run the loop inside a process of their own, without an API in front. CPU is that of all processes of a system, ' +
    'servers included. With a slow model, its silence is taken off.',
  async run(context) {
    const quick = context.quick ? { ...QUICK_MODEL, turns: 10 } : QUICK_MODEL;
    const slow = context.quick ? { ...SLOW_MODEL, turns: 3 } : SLOW_MODEL;
    context.note(`${quick.turns} turns: ${stepsOf(quick)} durable steps, with a model that answers at once.`);
    context.note(`A slow model is silent for ${slow.modelMs} ms before each reply; ${slow.turns} turns then.`);
    const contenders = await startContenders(context);
    const silence = (slow.turns + 1) * slow.modelMs;
    return [
      ...quickRows(await contenders.measure(quick), quick),
      rowOf(
        await contenders.measure(slow),
        'a durable step, slow model',
        'ms',
        ({ milliseconds }) => (milliseconds - silence) / stepsOf(slow),
      ),
    ];
  },
};

function stepsOf({ turns }: Work): number {
  return 2 * turns + 1;
}

async function startContenders(context: BenchContext): Promise<{ measure(work: Work): Promise<Figures> }> {
  const [referee, servers] = [await context.referee(), await context.servers()];
  const system = await context.system({ servers, referee });
  const contenders: Contender[] = [
    {
      name: 'product',
      run: async (question) => (await makeRun(system.api, question)).milliseconds,
      pids: () => Object.values(system.pids()).flat(),
    },
  ];
  for (const name of PEER_NAMES) {
    const peer = await context.peer({ name, servers, referee, folder: await context.folder() });
    contenders.push(peerContender(peer, PEERS[name], servers));
  }
  let count = 0;
  return {
    async measure(work) {
      const tags: string[] = [];
      const sides = contenders.map((contender) => {
        const measureOne = (): Promise<Figure> => {
          const tag = `${contender.name}-${(count += 1)}`;
          tags.push(tag);
          return figureOf(contender, `PLAN:tools=${work.turns} tool=ls tokens=8 ttft=${work.modelMs} tag=${tag}`);
        };
        return [contender.name, measureOne] as const;
      });
      const show = ({ milliseconds }: Figure): string => `${milliseconds.toFixed(0)} ms`;
      const figures = await takeTurns(context, { sides: Object.fromEntries(sides), warmUps: work.warmUps, show });
      const { calls, complaints } = await referee.counts();
      for (const complaint of complaints) context.broken(`the model refused a request: ${complaint}`);
      for (const tag of tags) {
        const counts = calls[tag] ?? [];
        const isSound = counts.length === work.turns + 1 && counts.every((asked) => asked === 1);
        if (!isSound) context.broken(`${tag}: not one model call for each turn, but ${counts.join(' ')}`);
      }
      return figures;
    },
  };
}

function peerContender(peer: Peer, server: 'postgres' | 'temporal', servers: Servers): Contender {
  const serverPid = server === 'postgres' ? servers.postgresPid : servers.temporalPid;
  return {
    name: peer.name,
    run: async (question) => (await peer.run({ question })).milliseconds,
    pids: () => [peer.pid, serverPid],
  };
}

async function figureOf(contender: Contender, question: string): Promise<Figure> {
  const before = cpuSeconds(contender.pids());
  const milliseconds = await contender.run(question);
  return { milliseconds, cpuMilliseconds: (cpuSeconds(contender.pids()) - before) * 1000 };
}

function quickRows(figures: Figures, work: Work): Row[] {
  return [
    {
      ...rowOf(figures, 'a durable step', 'ms', ({ milliseconds }) => milliseconds / stepsOf(work)),
      targets: [
        { peer: 'dbos', limit: 2.5, aim: 1.5 },
        { peer: 'temporal', limit: 1.5 },
      ],
    },
    rowOf(figures, 'a turn', 'ms', ({ milliseconds }) => milliseconds / work.turns),
    rowOf(figures, 'CPU of a turn', 'CPU ms', ({ cpuMilliseconds }) => cpuMilliseconds / work.turns),
  ];
}

function rowOf(figures: Figures, metric: string, unit: string, value: (figure: Figure) => number): Row {
  const sampleOf = (name: string): Sample => sample((figures.get(name) ?? []).map(value));
  const peers = Object.fromEntries(PEER_NAMES.map((name) => [name, sampleOf(name)]));
  return { metric, unit, better: 'lower', product: sampleOf('product'), peers };
}
