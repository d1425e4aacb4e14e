/** Cancels that come while a step cannot be done and is tried again and again. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Cluster } from '../cluster/cluster';
import type { WorkloadRun } from '../workload/workload';
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

const LATENCY_MS = 2_000;

export const cancelsOnSlowLines: Scenario = {
  name: 'workers: runs cancelled on slow lines to PostgreSQL',
  title:
    'runs are cancelled while each statement of a step takes two seconds: they end in order, without a failing task',
  long: true,
  async run({ cluster, workload, random }) {
    const from = Date.now();
    const lines = cluster.workers.map(({ links }) => links.postgres);
    const cancelled = async (): Promise<void> => {
      await delay(random.between(0, 3_000));
      const run = await workload.start({ plan: { turns: ['write', 'ls'] } });
      await delay(random.between(200, 14_000));
      await workload.cancel(run, random.pick(['interrupt', 'rollback']));
    };
    for (const line of lines) line.latencyMs = LATENCY_MS;
    await Promise.all([1, 2, 3, 4, 5, 6].map(cancelled));
    await delay(random.between(3_000, 6_000));
    for (const line of lines) line.latencyMs = 0;
    for (const { name } of cluster.slots) cluster.disturbances.push({ process: name, from, to: Date.now() + 3_000 });
  },
};

/** A workflow task has reported by then, and the next one has brought the wish to cancel. */
const REPORTED_MS = 5_000;

export const killedInCancelledStep: Scenario = {
  name: 'workers: killed in a slow step of a cancelled run',
  title:
    'a worker is killed in a step that a cancel waits for: another one ends the run, in order and without a failing task',
  long: true,
  async run({ cluster, workload, random }) {
    for (const operation of SLOW_STEPS) {
      const traps = cluster.workers.map((worker) => ({
        worker,
        // Before it, an open transaction would keep the cancel waiting too.
        trap: worker.points.arm({ operation, moment: 'after' }),
      }));
      const run = await workload.start({ plan: { turns: ['write', 'ls', 'slow'] } });
      const held = await Promise.race(traps.map(({ worker, trap }) => trap.reached.then(() => worker)));
      await delay(random.between(0, 1_000));
      await workload.cancel(run, random.pick(['interrupt', 'rollback']));
      await delay(REPORTED_MS);
      await held.kill();
      for (const { trap, worker } of traps)
        if (worker === held) trap.cut();
        else trap.pass();
      await held.start();
    }
  },
};

/** The database gives up a transaction that is silent for so long, and a workflow task is tried elsewhere sooner. */
const LOST_MS = 25_000;

export const lostInTransaction: Scenario = {
  name: 'worker: lost in the middle of a transaction',
  title: 'a worker stands still with a transaction open: a cancel is taken and the run ends while it still does',
  long: true,
  victim: 'worker',
  async run({ victim, cluster, workload }) {
    const trap = victim.points.arm({ operation: 'postgres:commit of a begin', moment: 'before' });
    let reached = false;
    void trap.reached.then(() => (reached = true));
    const runs: WorkloadRun[] = [];
    while (!reached) {
      runs.push(await workload.start({ plan: { turns: ['write'] } }));
      await Promise.race([trap.reached, delay(1_000)]);
    }
    const { rows } = await cluster.pool.query<{ run_id: string }>("select run_id from runs where status = 'pending'");
    const stuck = runs.find(({ runId }) => rows.some((row) => row.run_id === runId));
    if (stuck === undefined) throw new Error('no run waits for the lost worker');
    const frozen = victim.freeze(LOST_MS);
    try {
      await Promise.race([
        workload.cancel(stuck, 'interrupt', cluster.apis[0]),
        late(LOST_MS, 'the cancel was not taken'),
      ]);
      await Promise.race([ended(cluster, stuck.runId), late(LOST_MS, 'the run did not end')]);
    } finally {
      trap.cut();
      await frozen;
    }
  },
};

async function ended({ pool }: Cluster, runId: string): Promise<void> {
  const sql = "select 1 from runs where run_id = $1 and admission <> 'ended'";
  while ((await pool.query(sql, [runId])).rowCount === 1) await delay(200);
}

async function late(ms: number, what: string): Promise<never> {
  await delay(ms, undefined, { ref: false });
  throw new Error(`${what} within ${ms} ms`);
}
