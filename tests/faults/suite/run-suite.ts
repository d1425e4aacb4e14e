/** Plays scenarios on clusters, one batch after the other, and reports. */
import { join } from 'node:path';
import { findInstallation } from '../../../workers/stack/project-root';
import type { ClusterOptions } from '../cluster/cluster';
import { startCluster } from '../cluster/cluster';
import type { Random } from '../random';
import { createRandom } from '../random';
import type { Scenario } from '../scenarios';
import { createLedger } from '../workload/workload';
import { batchesOf } from './batches';
import { keepLogs } from './keep-logs';
import type { BatchResult, Stage } from './run-batch';
import { runBatch } from './run-batch';

export interface SuiteOptions {
  scenarios: readonly Scenario[];
  seed: number;
  print: (line: string) => void;
}

export interface SuiteResult {
  passed: number;
  skipped: number;
  /** Scenarios that could not be played, and violations. */
  failures: string[];
}

/** The evidence of a cluster grows; a new one keeps each check short. */
const BATCHES_PER_CLUSTER = 12;

export async function runSuite({ scenarios, seed, print }: SuiteOptions): Promise<SuiteResult> {
  const result: SuiteResult = { passed: 0, skipped: 0, failures: [] };
  const random = createRandom(seed);
  const report = createReport(result, seed, print);
  const playable = scenarios.filter((scenario) => {
    const reason = scenario.unavailable?.() ?? null;
    if (reason !== null) {
      result.skipped += 1;
      print(`skip  ${scenario.name}: ${reason}`);
    }
    return reason === null;
  });
  const shared = batchesOf(playable.filter(({ ownCluster }) => ownCluster === undefined));
  for (let at = 0; at < shared.length; at += BATCHES_PER_CLUSTER) {
    await onCluster({}, async (stage) => {
      for (const { scenarios: batch } of shared.slice(at, at + BATCHES_PER_CLUSTER)) {
        await report(stage, await runBatch(stage, batch, random));
      }
    });
  }
  for (const scenario of playable) await onOwnCluster(scenario, random, report);
  return result;
}

async function onOwnCluster(scenario: Scenario, random: Random, report: Report): Promise<void> {
  if (scenario.ownCluster === undefined) return;
  const cleanUps: Array<() => Promise<void>> = [];
  try {
    const options = await scenario.ownCluster((work) => cleanUps.push(work));
    await onCluster(options, async (stage) => report(stage, await runBatch(stage, [scenario], random)));
  } finally {
    for (const work of cleanUps.reverse()) await work();
  }
}

async function onCluster(options: ClusterOptions, work: (stage: Stage) => Promise<void>): Promise<void> {
  const cluster = await startCluster(options);
  try {
    await work({ cluster, ledger: createLedger(cluster), known: new Set() });
  } finally {
    await cluster.close();
  }
}

type Report = (stage: Stage, batch: BatchResult) => Promise<void>;

function createReport(result: SuiteResult, seed: number, print: (line: string) => void): Report {
  let kept = 0;
  return async (stage, batch) => {
    const broken = batch.violations.length > 0;
    for (const { scenario, seconds, runs, notes, failure } of batch.results) {
      const mark = failure !== null ? 'FAIL' : broken ? 'look' : 'ok  ';
      print(`${mark}  ${scenario.name} (${seconds.toFixed(1)} s, ${runs} runs)`);
      for (const text of notes) print(`      ${text}`);
      if (failure === null && !broken) result.passed += 1;
      if (failure === null) continue;
      const text = `${scenario.name}: ${failure instanceof Error ? failure.message : String(failure)}`;
      result.failures.push(text);
      print(`      ${text}`);
    }
    for (const { rule, subject, message } of batch.violations) {
      const run = stage.ledger.runs.find(({ runId, threadId }) => runId === subject || threadId === subject);
      const whose = run === undefined ? '' : ` (a run of "${run.label}")`;
      const text = `${rule}: ${subject ?? 'the cluster'}${whose}: ${message}`;
      result.failures.push(text);
      print(`VIOLATION ${text}`);
    }
    if (!broken && batch.results.every(({ failure }) => failure === null)) return;
    kept += 1;
    const folder = join(findInstallation(), '.cache', 'fault-logs', `seed-${seed}-${kept}`);
    await keepLogs(folder, stage, batch);
    print(`      logs and evidence: ${folder}`);
  };
}
