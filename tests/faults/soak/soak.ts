/** Keeps a cluster at work under random restarts, then for a while without, and judges what is left and was measured. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Evidence, Violation } from '../checker';
import { check, collectEvidence } from '../checker';
import type { Cluster } from '../cluster/cluster';
import type { Random } from '../random';
import { createRandom } from '../random';
import type { Ledger } from '../workload/workload';
import { createWorkload } from '../workload/workload';
import type { Window } from './flatness';
import type { Load } from './load';
import { createLoad } from './load';
import type { SoakOptions } from './options';
import { measure } from './report';
import { planRestart } from './restarts';
import { startSampler } from './samples';

export interface SoakResult {
  table: string;
  violations: Violation[];
  evidence: Evidence;
}

type Print = (line: string) => void;

/** Part of the runs that comes when the restarts are over, so that processes grow old under load. */
const STEADY_SHARE = 0.25;

/** Open runs at which nothing more is asked for: the load must not be what breaks. */
const MOST_OPEN = 10;
const STEADY_OPEN = 6;
const CATCH_UP_MS = 25_000;
const SETTLE_MS = 180_000;

/** Longer than an unused connection stays in a pool. */
const REST_MS = 15_000;

const POOL_SIZE = 20;

/** Connections of a process that has nothing to do: a look after runs now and then. */
const RESTING_CONNECTIONS = 3;

export async function soak(
  cluster: Cluster,
  ledger: Ledger,
  { runs, restarts, seed }: SoakOptions,
  print: Print,
): Promise<SoakResult> {
  const random = createRandom(seed);
  const load = createLoad(createWorkload(cluster, ledger, random.fork('plans'), 'soak'), random.fork('load'));
  const sampler = startSampler(cluster);
  const steadyRuns = Math.ceil(runs * STEADY_SHARE);

  const begun = Date.now();
  const failed = await withRestarts(
    cluster,
    load,
    { runs: runs - steadyRuns, restarts },
    random.fork('restarts'),
    print,
  );
  await load.below(0, CATCH_UP_MS);
  const calm = Date.now();
  print(`${steadyRuns} runs without restarts`);
  await withoutRestarts(load, steadyRuns);
  await load.accepted();
  await ledger.settle(SETTLE_MS);
  const busyUntil = Date.now();
  await delay(REST_MS);
  await sampler.stop();

  const windows: Record<'restarts' | 'steady', Window> = {
    restarts: { from: begun, to: calm },
    steady: { from: calm, to: busyUntil },
  };
  const { table, violations } = measure({ ...sampler, ...windows, limits: connectionLimits(cluster, POOL_SIZE) });
  const evidence = await collect(cluster, ledger);
  return {
    table,
    evidence,
    violations: [...check(evidence), ...violations, ...failed, ...refused(load), ...lost(cluster)],
  };
}

async function withRestarts(
  cluster: Cluster,
  load: Load,
  { runs, restarts }: Pick<SoakOptions, 'runs' | 'restarts'>,
  random: Random,
  print: Print,
): Promise<Violation[]> {
  const failed: Violation[] = [];
  const begun = Date.now();
  let added = 0;
  for (let count = 1; count <= restarts; count += 1) {
    for (const due = Math.round((count * runs) / restarts); added < due; added += 1) load.add();
    await delay(random.between(500, 4_000));
    const restart = planRestart(cluster, random);
    const seconds = ((Date.now() - begun) / 1000).toFixed(0);
    print(`${seconds.padStart(4)} s  ${count}/${restarts}  ${restart.name}  (${added} runs, ${load.open} open)`);
    await restart.perform().catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      failed.push({ rule: 'restart', subject: restart.name, message: reason.slice(0, 2_000) });
    });
    await load.below(MOST_OPEN, CATCH_UP_MS);
  }
  for (; added < runs; added += 1) load.add();
  return failed;
}

async function withoutRestarts(load: Load, runs: number): Promise<void> {
  for (let added = 0; added < runs; added += 1) {
    load.add();
    await load.below(STEADY_OPEN, CATCH_UP_MS);
  }
}

function connectionLimits({ workers, apis }: Cluster, perProcess: number): Record<string, number> {
  return {
    'deerflow worker': workers.length * perProcess,
    'deerflow api': apis.length * perProcess,
    'deerflow api listener': apis.length,
    'deerflow worker listener': workers.length,
  };
}

function collect(cluster: Cluster, ledger: Ledger): Promise<Evidence> {
  const { pool, temporal, modelJournal, home, processes, disturbances } = cluster;
  return collectEvidence({
    pool,
    temporal,
    modelJournal,
    home,
    processes,
    disturbances,
    accepted: ledger.runs,
    subscriptions: ledger.subscriptions(),
    effectFiles: ledger.effectFiles,
    limits: { connections: connectionLimits(cluster, RESTING_CONNECTIONS) },
  });
}

function refused({ failures }: Load): Violation[] {
  return failures.map((message) => ({ rule: 'accepted', subject: null, message }));
}

function lost({ slots }: Cluster): Violation[] {
  return slots
    .filter((slot) => slot.lost)
    .map(({ name, output }) => ({
      rule: 'processes-live',
      subject: name,
      message: `ended without being told to; its last words: ${output.slice(-1_000)}`,
    }));
}
