/** B1: what a durable step costs. One run of fifty turns at a time, beside the same loop on other durable engines. */
import type { BenchContext, Benchmark, Row } from '../benchmark';
import { makeRun } from '../product-run';
import { sample } from '../statistics';
import { takeTurns } from '../take-turns';

const PEER_NAMES = ['dbos', 'langgraph', 'temporal', 'temporal-ids'] as const;

export const stepOverhead: Benchmark = {
  name: 'B1',
  title: 'what a durable step costs',
  about:
    'One run at a time, from its start to its end. Every turn is one streamed model call and one `ls`, so two durable ' +
    'steps; a last model call answers. The product is asked over HTTP and streams its updates to the client; peers ' +
    'run the loop inside their own process, without an API in front.',
  run: measure,
};

async function measure(context: BenchContext): Promise<Row[]> {
  const turns = context.quick ? 10 : 50;
  const steps = 2 * turns + 1;
  context.note(`${turns} turns: ${turns + 1} model calls and ${turns} tool calls, ${steps} durable steps`);
  const referee = await context.referee();
  const servers = await context.servers();
  const system = await context.system({ servers, referee });
  const peers = [];
  for (const name of PEER_NAMES) {
    peers.push(await context.peer({ name, servers, referee, folder: await context.folder() }));
  }

  const runs = new Map<string, string>();
  const question = (who: string): string => {
    const tag = `${who}-${runs.size}`;
    runs.set(tag, who);
    return `PLAN:tools=${turns} tool=ls tokens=8 tag=${tag}`;
  };
  const times = await takeTurns(context, {
    product: async () => (await makeRun(system.api, question('product'))).milliseconds,
    ...Object.fromEntries(
      peers.map((peer) => [peer.name, async () => (await peer.run({ question: question(peer.name) })).milliseconds]),
    ),
  });

  const { calls, complaints } = await referee.counts();
  for (const complaint of complaints) context.broken(`the model refused a request: ${complaint}`);
  for (const tag of runs.keys()) {
    const counts = calls[tag] ?? [];
    if (counts.length !== turns + 1 || counts.some((count) => count !== 1)) {
      context.broken(`${tag}: not one model call for each turn, but ${counts.join(' ')}`);
    }
  }

  const perPeer = (parts: number): Record<string, ReturnType<typeof sample>> =>
    Object.fromEntries(PEER_NAMES.map((name) => [name, per(times[name], parts)]));
  return [
    {
      metric: 'a durable step',
      unit: 'ms',
      better: 'lower',
      product: per(times['product'], steps),
      peers: perPeer(steps),
      targets: [
        { peer: 'dbos', limit: 2.5, aim: 1.5 },
        { peer: 'temporal', limit: 1.5 },
      ],
    },
    { metric: 'a turn', unit: 'ms', better: 'lower', product: per(times['product'], turns), peers: perPeer(turns) },
  ];
}

function per(times: readonly number[] | undefined, parts: number): ReturnType<typeof sample> {
  return sample((times ?? []).map((time) => time / parts));
}
