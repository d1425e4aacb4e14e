/** Runs the scenarios of one batch on a cluster, waits for the ends of their runs, and has everything checked. */
import type { Evidence, Violation } from '../checker';
import { check, collectEvidence } from '../checker';
import type { Cluster } from '../cluster/cluster';
import type { Slot } from '../cluster/slot';
import type { Random } from '../random';
import type { Scenario } from '../scenarios';
import type { Ledger } from '../workload/workload';
import { createWorkload } from '../workload/workload';

/** A cluster with everything that has been done to it. */
export interface Stage {
  cluster: Cluster;
  ledger: Ledger;
  /** Violations that were reported before: the evidence of a cluster only grows. */
  known: Set<string>;
}

export interface ScenarioResult {
  scenario: Scenario;
  seconds: number;
  runs: number;
  notes: string[];
  /** Why the scenario could not be played to its end. */
  failure: unknown;
}

export interface CheckResult {
  violations: Violation[];
  evidence: Evidence;
  /** How long the ends of the runs were waited for, and the checks took. */
  settleSeconds: number;
  checkSeconds: number;
}

/** Everything is tried again within this time, however long its pauses have grown. */
const SETTLE_MS = 120_000;
const POOL_SIZE = 20;

/** Plays scenarios side by side, each with a victim of its own. Their runs may still be under way afterwards. */
export function playBatch(stage: Stage, scenarios: readonly Scenario[], random: Random): Promise<ScenarioResult[]> {
  const free: Slot[] = [...stage.cluster.slots];
  return Promise.all(
    scenarios.map((scenario) => {
      const at = free.findIndex(({ kind }) => kind === (scenario.victim ?? 'worker'));
      const victim = free.splice(at, 1)[0];
      if (victim === undefined) throw new Error(`there is no process for "${scenario.name}"`);
      return play(stage, scenario, victim, random.fork(scenario.name));
    }),
  );
}

/** Waits for the ends of all runs, and checks everything that the cluster has done so far. */
export async function checkStage(stage: Stage): Promise<CheckResult> {
  const begun = Date.now();
  await stage.ledger.settle(SETTLE_MS);
  const settled = Date.now();
  const evidence = await collect(stage);
  const violations = [...check(evidence), ...lostProcesses(stage.cluster)].filter((violation) => {
    const name = `${violation.rule} ${violation.subject ?? violation.message}`;
    if (stage.known.has(name)) return false;
    stage.known.add(name);
    return true;
  });
  const checkSeconds = (Date.now() - settled) / 1000;
  return { violations, evidence, settleSeconds: (settled - begun) / 1000, checkSeconds };
}

async function play(stage: Stage, scenario: Scenario, victim: Slot, random: Random): Promise<ScenarioResult> {
  const begun = Date.now();
  const before = stage.ledger.runs.length;
  const notes: string[] = [];
  let failure: unknown = null;
  const workload = createWorkload(stage.cluster, stage.ledger, random, scenario.name);
  try {
    await scenario.run({ cluster: stage.cluster, victim, workload, random, note: (text) => notes.push(text) });
  } catch (error) {
    failure = error;
  }
  const runs = stage.ledger.runs.slice(before).filter(({ label }) => label === scenario.name).length;
  return { scenario, seconds: (Date.now() - begun) / 1000, runs, notes, failure };
}

function collect({ cluster, ledger }: Stage): Promise<Evidence> {
  const { pool, temporal, modelJournal, home, processes, disturbances } = cluster;
  return collectEvidence({
    pool,
    temporal,
    accepted: ledger.runs,
    subscriptions: ledger.subscriptions(),
    modelJournal,
    effectFiles: ledger.effectFiles,
    home,
    processes,
    disturbances,
    limits: {
      connections: {
        'deerflow worker': cluster.workers.length * POOL_SIZE,
        'deerflow api': cluster.apis.length * POOL_SIZE,
        'deerflow api listener': cluster.apis.length,
        'deerflow worker listener': cluster.workers.length,
      },
    },
  });
}

/** A process that ended of itself: no fault may do that. */
function lostProcesses(cluster: Cluster): Violation[] {
  return cluster.slots
    .filter(({ lost }) => lost)
    .map(({ name, output }) => ({
      rule: 'processes-live',
      subject: name,
      message: `${name} ended without being told to; its last words: ${output.slice(-1_000)}`,
    }));
}
