/** B1: what a durable step costs. One run of fifty turns at a time, beside the same loop on other durable engines. */
import type { BenchContext, Benchmark, Row } from '../benchmark';
import type { Peer } from '../peer';
import { cpuSeconds } from '../processes';
import { makeRun } from '../product-run';
import type { Servers } from '../servers';
import { sample } from '../statistics';
import type { Sample } from '../statistics';
import { takeTurns } from '../take-turns';

/** The peers, and the server that each keeps its steps in. */
const PEERS = { dbos: 'postgres', langgraph: 'postgres', temporal: 'temporal', 'temporal-ids': 'temporal' } as const;
const PEER_NAMES = ['dbos', 'langgraph', 'temporal', 'temporal-ids'] as const;

const TURNS = 50;
const QUICK_TURNS = 10;

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

export const stepOverhead: Benchmark = {
  name: 'B1',
  title: 'What a durable step costs',
  about:
    'One run at a time, from its start to its end. Every turn is one streamed model call and one `ls`, so two durable ' +
    'steps; a last model call answers. The product is asked over HTTP and streams its updates to the client; peers ' +
    'run the loop inside a process of their own, without an API in front. CPU is that of all processes of a system, ' +
    'servers included.',
  run: measure,
};

async function measure(context: BenchContext): Promise<Row[]> {
  const turns = context.quick ? QUICK_TURNS : TURNS;
  const steps = 2 * turns + 1;
  context.note(`${turns} turns: ${turns + 1} model calls and ${turns} tool calls, ${steps} durable steps.`);
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

  const tags: string[] = [];
  const measureOne = async (contender: Contender): Promise<Figure> => {
    const tag = `${contender.name}-${tags.length + 1}`;
    tags.push(tag);
    const before = cpuSeconds(contender.pids());
    const milliseconds = await contender.run(`PLAN:tools=${turns} tool=ls tokens=8 tag=${tag}`);
    return { milliseconds, cpuMilliseconds: (cpuSeconds(contender.pids()) - before) * 1000 };
  };
  const figures = await takeTurns(context, {
    sides: Object.fromEntries(contenders.map((contender) => [contender.name, () => measureOne(contender)])),
    show: ({ milliseconds }) => `${milliseconds.toFixed(0)} ms`,
  });

  const { calls, complaints } = await referee.counts();
  for (const complaint of complaints) context.broken(`the model refused a request: ${complaint}`);
  for (const tag of tags) {
    const counts = calls[tag] ?? [];
    const isSound = counts.length === turns + 1 && counts.every((count) => count === 1);
    if (!isSound) context.broken(`${tag}: not one model call for each turn, but ${counts.join(' ')}`);
  }
  return rowsOf(figures, { turns, steps });
}

function peerContender(peer: Peer, server: 'postgres' | 'temporal', servers: Servers): Contender {
  const serverPid = server === 'postgres' ? servers.postgresPid : servers.temporalPid;
  return {
    name: peer.name,
    run: async (question) => (await peer.run({ question })).milliseconds,
    pids: () => [peer.pid, serverPid],
  };
}

function rowsOf(figures: ReadonlyMap<string, readonly Figure[]>, sizes: { turns: number; steps: number }): Row[] {
  const row = (metric: string, unit: string, value: (figure: Figure) => number): Row => {
    const sampleOf = (name: string): Sample => sample((figures.get(name) ?? []).map(value));
    const peers = Object.fromEntries(PEER_NAMES.map((name) => [name, sampleOf(name)]));
    return { metric, unit, better: 'lower', product: sampleOf('product'), peers };
  };
  return [
    {
      ...row('a durable step', 'ms', ({ milliseconds }) => milliseconds / sizes.steps),
      targets: [
        { peer: 'dbos', limit: 2.5, aim: 1.5 },
        { peer: 'temporal', limit: 1.5 },
      ],
    },
    row('a turn', 'ms', ({ milliseconds }) => milliseconds / sizes.turns),
    row('CPU of a turn', 'CPU ms', ({ cpuMilliseconds }) => cpuMilliseconds / sizes.turns),
  ];
}
