/** Plays scenarios on clusters, one batch after the other, and reports. */
import { join } from 'node:path';
import { runWorkflowId } from '../../../contracts';
import { findInstallation } from '../../../workers/stack/project-root';
import type { ClusterOptions } from '../cluster/cluster';
import { startCluster } from '../cluster/cluster';
import type { Random } from '../random';
import { createRandom } from '../random';
import type { Scenario } from '../scenarios';
import { createLedger } from '../workload/workload';
import type { Batch } from './batches';
import { batchesOf } from './batches';
import { keepLogs } from './keep-logs';
import type { CheckResult, ScenarioResult, Stage } from './stage';
import { checkStage, playBatch } from './stage';

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

/** Runs of one batch may end while the next is played. */
const BATCHES_PER_CHECK = 3;

export async function runSuite({ scenarios, seed, print }: SuiteOptions): Promise<SuiteResult> {
  const result: SuiteResult = { passed: 0, skipped: 0, failures: [] };
  const random = createRandom(seed);
  const playable = scenarios.filter((scenario) => {
    const reason = scenario.unavailable?.() ?? null;
    if (reason === null) return true;
    result.skipped += 1;
    print(`skip  ${scenario.name}: ${reason}`);
    return false;
  });
  const suite: Suite = { random, report: createReport(result, seed, print) };
  const shared = batchesOf(playable.filter(({ ownCluster }) => ownCluster === undefined));
  for (let at = 0; at < shared.length; at += BATCHES_PER_CLUSTER) {
    await onCluster({}, (stage) => playAll(suite, stage, shared.slice(at, at + BATCHES_PER_CLUSTER)));
  }
  for (const scenario of playable) await onOwnCluster(suite, scenario);
  return result;
}

interface Suite {
  random: Random;
  report: Report;
}

async function playAll({ random, report }: Suite, stage: Stage, batches: readonly Batch[]): Promise<void> {
  for (let at = 0; at < batches.length; at += BATCHES_PER_CHECK) {
    const results: ScenarioResult[] = [];
    for (const { scenarios } of batches.slice(at, at + BATCHES_PER_CHECK)) {
      results.push(...(await playBatch(stage, scenarios, random)));
    }
    await report(stage, results, await checkStage(stage));
  }
}

async function onOwnCluster(suite: Suite, scenario: Scenario): Promise<void> {
  if (scenario.ownCluster === undefined) return;
  const cleanUps: Array<() => Promise<void>> = [];
  try {
    const options = await scenario.ownCluster((work) => cleanUps.push(work));
    await onCluster(options, (stage) => playAll(suite, stage, [{ scenarios: [scenario] }]));
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

type Report = (stage: Stage, results: readonly ScenarioResult[], checked: CheckResult) => Promise<void>;

function createReport(result: SuiteResult, seed: number, print: (line: string) => void): Report {
  let kept = 0;
  return async (stage, results, checked) => {
    const { violations } = checked;
    const labelOf = (subject: string | null): string | undefined =>
      stage.ledger.runs.find(({ runId, threadId }) => [runId, threadId, runWorkflowId(runId)].includes(subject ?? ''))
        ?.label;
    const blamed = new Set(violations.map(({ subject }) => labelOf(subject)));
    for (const { scenario, seconds, runs, notes, failure } of results) {
      const fine = failure === null && !blamed.has(scenario.name);
      if (fine) result.passed += 1;
      print(`${fine ? 'ok  ' : 'FAIL'}  ${scenario.name} (${seconds.toFixed(1)} s, ${runs} runs)`);
      for (const text of notes) print(`      ${text}`);
      if (failure === null) continue;
      const text = `${scenario.name}: ${failure instanceof Error ? failure.message : String(failure)}`;
      result.failures.push(text);
      print(`      ${text}`);
    }
    const [settled, took] = [checked.settleSeconds, checked.checkSeconds].map((seconds) => seconds.toFixed(1));
    print(`      then all runs ended within ${settled} s; the check took ${took} s`);
    for (const { rule, subject, message } of violations) {
      const label = labelOf(subject);
      const text = `${rule}: ${subject ?? 'the cluster'}${label === undefined ? '' : ` ("${label}")`}: ${message}`;
      result.failures.push(text);
      print(`VIOLATION ${text}`);
    }
    if (violations.length === 0 && results.every(({ failure }) => failure === null)) return;
    kept += 1;
    const folder = join(findInstallation(), '.cache', 'fault-logs', `seed-${seed}-${kept}`);
    await keepLogs(folder, stage, checked);
    print(`      logs and evidence: ${folder}`);
  };
}
