/** Cancels that come while a step cannot be done and is tried again and again. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Scenario, ScenarioContext } from './scenario';

const ROUNDS = 3;

/** Cuts the workers off PostgreSQL, lets something happen meanwhile, and gives it back to them. */
async function withoutDatabase({ cluster, random }: ScenarioContext, work: () => Promise<void>): Promise<void> {
  for (const { links } of cluster.workers) {
    links.postgres.refusing = true;
    links.postgres.cut();
  }
  try {
    await work();
    await delay(random.between(2_000, 7_000));
  } finally {
    for (const { links } of cluster.workers) links.postgres.refusing = false;
  }
}

export const cancelsDuringOutage: Scenario = {
  name: 'workers: runs cancelled while PostgreSQL refuses them',
  title: 'runs are cancelled while their steps are tried again for want of PostgreSQL: they end as cancelled, in order',
  long: true,
  async run(context) {
    const { workload, random } = context;
    for (let round = 0; round < ROUNDS; round += 1) {
      const underWay = await Promise.all(
        [1, 2, 3].map(() => workload.start({ plan: { turns: ['ls', 'write', 'slow'] } })),
      );
      await delay(random.between(0, 600));
      await withoutDatabase(context, async () => {
        const fresh = await Promise.all([1, 2].map(() => workload.start()));
        await delay(random.between(500, 3_000));
        await Promise.all(
          [...underWay, ...fresh].map((run) => workload.cancel(run, random.pick(['interrupt', 'rollback']))),
        );
      });
    }
  },
};

/** Longer than a workflow task waits for local activities before it reports to the server. */
const SLOW_STEP_MS = 6_000;

const SLOW_STEPS = [
  'postgres:commit of a begin',
  'postgres:commit of a tool result',
  'postgres:commit of an end',
] as const;

export const cancelsDuringSlowSteps: Scenario = {
  name: 'workers: runs cancelled in steps of six seconds',
  title: 'runs are cancelled while a step that takes milliseconds has been under way for seconds: they end in order',
  long: true,
  async run({ cluster, workload, random }) {
    for (const operation of SLOW_STEPS) {
      const traps = cluster.workers.map(({ points }) =>
        points.arm({ operation, moment: random.pick(['before', 'after']) }),
      );
      const run = await workload.start({ plan: { turns: ['write', 'ls', 'slow'] } });
      await Promise.race(traps.map(({ reached }) => reached));
      await delay(random.between(0, 1_500));
      await workload.cancel(run, random.pick(['interrupt', 'rollback']));
      await delay(SLOW_STEP_MS);
      for (const trap of traps) trap.pass();
    }
  },
};
