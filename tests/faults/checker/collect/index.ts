/** Gathers evidence. Looks only: what it finds is judged by the rules. */
import { setTimeout as delay } from 'node:timers/promises';
import { runWorkflowId } from '../../../../contracts';
import type { Evidence, EvidenceSource } from '../evidence';
import { DEFAULT_LIMITS } from '../evidence';
import { collectDatabase } from './database';
import { collectEffects, collectModelRequests } from './journals';
import { collectStrayProcesses } from './processes';
import { collectWorkflows } from './workflows';

const SETTLE_MS = 30_000;
const POLL_MS = 500;

/** Waits for a moment until what has ended in the database has ended elsewhere too, then collects everything. */
export async function collectEvidence(source: EvidenceSource): Promise<Evidence> {
  await settle(source);
  const database = await collectDatabase(source.pool);
  const runIds = database.runs.map(({ runId }) => runId);
  const [workflows, modelRequests, effects, strayProcesses] = await Promise.all([
    collectWorkflows(source.temporal, runIds),
    collectModelRequests(source.modelJournal),
    collectEffects(source.effectFiles),
    collectStrayProcesses(source.home, source.processes),
  ]);
  return {
    ...database,
    workflows,
    modelRequests,
    effects,
    strayProcesses,
    accepted: [...source.accepted],
    subscriptions: [...source.subscriptions],
    disturbances: [...source.disturbances],
    limits: { ...DEFAULT_LIMITS, ...source.limits },
  };
}

/** The last task of a workflow comes after the end of its run; a command may outlive the worker that was killed. */
async function settle({ pool, temporal, home, processes, settleMs = SETTLE_MS }: EvidenceSource): Promise<void> {
  const deadline = Date.now() + settleMs;
  while (Date.now() < deadline) {
    const { rows } = await pool.query<{ runId: string }>(
      `select run_id as "runId" from runs where admission = 'ended'`,
    );
    const ended = new Set(rows.map(({ runId }) => runWorkflowId(runId)));
    let open = false;
    for await (const { workflowId } of temporal.workflow.list({ query: `ExecutionStatus = 'Running'` })) {
      open ||= ended.has(workflowId);
    }
    if (!open && (await collectStrayProcesses(home, processes)).length === 0) return;
    await delay(POLL_MS);
  }
}
