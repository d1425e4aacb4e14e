/** Processes of the product that die, stop or stand still at any time. */
import { setTimeout as delay } from 'node:timers/promises';
import type { SlotKind } from '../cluster/slot';
import { trickle } from './load';
import type { Scenario, ScenarioContext } from './scenario';

const LONG_FREEZE_MS = 30_000;
const ROUNDS = 3;

const AT_RANDOM = {
  async kill({ victim, random }: ScenarioContext) {
    await victim.kill();
    await delay(random.between(0, 1_500));
    await victim.start();
  },
  async terminate({ victim }: ScenarioContext) {
    await victim.stop();
    await victim.start();
  },
  async freeze({ victim, random }: ScenarioContext) {
    await victim.freeze(random.between(1_000, 7_000));
  },
} as const;

type Blow = keyof typeof AT_RANDOM;

const TITLES: Readonly<Record<Blow, string>> = {
  kill: 'is killed',
  terminate: 'is asked to stop',
  freeze: 'stands still',
};

function atRandom(kind: SlotKind, blow: Blow): Scenario {
  return {
    name: `${kind}: ${blow} at random times`,
    title: `one ${kind} of two ${TITLES[blow]} at random times: every run goes on`,
    long: true,
    victim: kind,
    run: (context) =>
      trickle(context, async () => {
        for (let round = 0; round < ROUNDS; round += 1) {
          await delay(context.random.between(200, 4_000));
          await AT_RANDOM[blow](context);
        }
      }),
  };
}

function longFreeze(kind: SlotKind): Scenario {
  return {
    name: `${kind}: freeze for 30 s`,
    title: `one ${kind} of two stands still for 30 s with work in hand: its runs go on without it, and it does no harm afterwards`,
    long: true,
    victim: kind,
    run: (context) => trickle(context, () => context.victim.freeze(LONG_FREEZE_MS), { everyMs: 3_000 }),
  };
}

const allAtOnce: Scenario = {
  name: 'everything: killed at once',
  title:
    'both workers, both APIs, PostgreSQL and Temporal are killed at the same moment: after a restart all runs go on',
  long: true,
  async run(context) {
    const { cluster, random } = context;
    const { postgres, temporal } = cluster.servers;
    await trickle(context, async () => {
      for (let round = 0; round < 2; round += 1) {
        await delay(random.between(2_000, 6_000));
        await Promise.all([...cluster.slots, postgres, temporal].map((process) => process.kill()));
        await Promise.all([postgres.start(), temporal.start(), ...cluster.slots.map((slot) => slot.start())]);
      }
    });
  },
};

const deploy: Scenario = {
  name: 'everything: deployed one after the other',
  title: 'each process is asked to stop and started again in turn: no run is stopped, none waits for long',
  long: true,
  async run(context) {
    await trickle(context, async () => {
      for (const slot of context.cluster.slots) {
        await slot.stop();
        await slot.start();
      }
    });
  },
};

const bothWorkers: Scenario = {
  name: 'workers: both killed',
  title: 'both workers are killed at once and come back after ten seconds: every run goes on',
  long: true,
  async run(context) {
    const { workers } = context.cluster;
    await trickle(context, async () => {
      await delay(3_000);
      await Promise.all(workers.map((slot) => slot.kill()));
      await delay(10_000);
      await Promise.all(workers.map((slot) => slot.start()));
    });
  },
};

const KINDS = ['worker', 'api'] as const;

export const scenariosOfProcesses: readonly Scenario[] = [
  ...KINDS.flatMap((kind) => (Object.keys(AT_RANDOM) as Blow[]).map((blow) => atRandom(kind, blow))),
  ...KINDS.map(longFreeze),
  bothWorkers,
  deploy,
  allAtOnce,
];
