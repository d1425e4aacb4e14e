import { setTimeout as delay } from 'node:timers/promises';
import type { BenchContext, Benchmark, Row, Target } from '../benchmark';
import type { Flow, KillOutcome, Phase, Recovery } from '../recovery';
import { evidenceOf, faultsOf, killWorker, quickPlan, slowPlan, startFlow } from '../recovery';
import type { Referee } from '../referee';
import type { Servers } from '../servers';
import { percentile, sample } from '../statistics';
import type { System } from '../system';

interface Case {
  title: string;
  workers: number;
  /** Runs in flight. */
  slow: number;
  quick: number;
}

const CASES: readonly Case[] = [
  { title: 'only worker', workers: 1, slow: 6, quick: 2 },
  { title: 'one of two workers', workers: 2, slow: 9, quick: 3 },
];

/** A kill comes at a random time within this, once all runs go on: about a turn of a slow run. */
const PAUSE_MS = 1_500;

const TARGET: Target = { limit: 15, aim: 5 };

const PHASES: Readonly<Record<Phase, string>> = {
  model: 'in a reply of the model',
  tool: 'in a command',
  between: 'in between, or in a step that is over in milliseconds',
};

export const recovery: Benchmark = {
  name: 'B5',
  title: 'Recovery',
  about:
    'A worker is killed with SIGKILL while runs are in flight, at a random moment, again and again: the only one, and ' +
    'the elder of two; both at the same time, each with an API and runs of its own. As under `npm start`, another is ' +
    'started half a second later. Measured for every run in flight on the killed worker: the time from the kill until ' +
    'its subscriber gets the next event. Most runs stream their replies for a second and call commands that take half ' +
    'as long, others make a turn in a few dozen milliseconds. Of every run is then checked that it ended in success, ' +
    'that its events are dense and reached its subscriber once each, that no stored reply was asked for again, and that ' +
    'each command (which appends a line to a file) ran at most once. A repeat is a part of the kills.',
  async run(context) {
    const [servers, referee] = [await context.servers(), await context.referee()];
    const rows = await Promise.all(CASES.map((each) => measureCase(context, { servers, referee }, each)));
    for (const complaint of (await referee.counts()).complaints) context.broken(complaint);
    return rows.flat();
  },
};

async function measureCase(
  context: BenchContext,
  { servers, referee }: { servers: Servers; referee: Referee },
  { title, workers, slow, quick }: Case,
): Promise<Row[]> {
  const kills = Math.ceil(context.kills / CASES.length);
  const system = await context.system({ servers, referee, workers });
  const name = (tag: string): string => `${workers}-${tag}`;
  const places = [
    ...Array.from({ length: slow }, () => (tag: string) => slowPlan(name(tag))),
    ...Array.from({ length: quick }, () => (tag: string) => quickPlan(name(tag))),
  ];
  const flow = startFlow({ system, places, signal: context.signal });
  const outcomes: KillOutcome[] = [];
  await flow.underWay();
  const begun = performance.now();
  for (let kill = 1; kill <= kills; kill += 1) {
    context.signal.throwIfAborted();
    const outcome = await killOnce(context, system, flow);
    outcomes.push(outcome);
    context.log(`${title}, kill ${kill} of ${kills}: ${describe(outcome)}`);
    for (const { plan } of outcome.stuck) context.broken(`${plan.tag} did not go on after a kill of its worker`);
  }
  const seconds = (performance.now() - begun) / 1000;
  await flow.finish();
  await check(context, system, { title, flow, referee });
  await system.close();
  context.note(
    `${title}: ${kills} kills in ${Math.round(seconds)} s; ${flow.all.length} runs, ${slow} slow and ${quick} quick ones ` +
      `in flight. ${phaseText(outcomes)}.`,
  );
  return rowsOf(title, inParts(outcomes, context.repeats));
}

/** The one of two that has run for longer is killed: most runs are on it. */
async function killOnce({ signal }: BenchContext, system: System, flow: Flow): Promise<KillOutcome> {
  await delay(Math.random() * PAUSE_MS, undefined, { signal });
  const victim = system.workers.find((worker) => worker.running);
  if (victim === undefined) throw new Error('There is no worker to kill.');
  return killWorker({ system, flow, victim, signal });
}

async function check(
  context: BenchContext,
  system: System,
  { title, flow, referee }: { title: string; flow: Flow; referee: Referee },
): Promise<void> {
  const counts = await referee.counts();
  let unknown = 0;
  for (const run of flow.all) {
    const evidence = await evidenceOf(system, run, counts);
    unknown += evidence.effects.filter((effect) => effect.unknown).length;
    for (const fault of faultsOf(evidence)) context.broken(fault);
  }
  context.log(
    `${title}: checked ${flow.all.length} runs; the model was told of ${unknown} commands that their outcome is unknown`,
  );
}

function describe({ recoveries, workerStartSeconds }: KillOutcome): string {
  const times = recoveries.map(({ phase, seconds }) => `${seconds.toFixed(1)} ${phase}`).join(', ');
  return `next events after ${times || 'none'} s; a worker started in ${workerStartSeconds.toFixed(1)} s`;
}

/** As many parts as there are repeats, in the order of the kills. */
function inParts(outcomes: readonly KillOutcome[], repeats: number): KillOutcome[][] {
  const size = Math.ceil(outcomes.length / repeats);
  const parts = Array.from({ length: repeats }, (_, index) => outcomes.slice(index * size, (index + 1) * size));
  return parts.filter((part) => recoveriesOf(part).length > 0);
}

function recoveriesOf(outcomes: readonly KillOutcome[]): Recovery[] {
  return outcomes.flatMap(({ recoveries }) => recoveries);
}

function phaseText(outcomes: readonly KillOutcome[]): string {
  const recoveries = recoveriesOf(outcomes);
  const parts = Object.entries(PHASES).flatMap(([phase, words]) => {
    const seconds = recoveries.filter((each) => each.phase === phase).map((each) => each.seconds);
    return seconds.length === 0 ? [] : [`${seconds.length} ${words} (${spread(seconds)})`];
  });
  return `${recoveries.length} were on the killed worker, median and 95th percentile in seconds: ${parts.join(', ')}`;
}

function spread(seconds: readonly number[]): string {
  return `${percentile(seconds, 50).toFixed(2)}, ${percentile(seconds, 95).toFixed(2)}`;
}

function rowsOf(title: string, parts: readonly KillOutcome[][]): Row[] {
  const seconds = parts.map((part) => recoveriesOf(part).map((recovery) => recovery.seconds));
  const starts = parts.flat().map(({ workerStartSeconds }) => workerStartSeconds);
  const of = (percent: number): number[] => seconds.map((values) => percentile(values, percent));
  return [
    row(`${title}: kill to next event, median`, of(50)),
    row(`${title}: kill to next event, 95th percentile`, of(95), [TARGET]),
    row(`${title}: kill to next event, longest`, of(100)),
    row(`${title}: start of a worker`, starts),
  ];
}

function row(metric: string, values: readonly number[], targets: Target[] = []): Row {
  return { metric, unit: 's', better: 'lower', product: sample(values), peers: {}, targets };
}
