import type { ReconcileReport, RunError, RunOutcome } from '../contracts';
import { isAppError } from '../contracts';
import type { RunEnding, RunRow } from '../db';
import type { ActivityDependencies } from './dependencies';
import { finishRun } from './finish-run';

const UNSTARTED_AFTER_SECONDS = 5;
const QUIET_AFTER_SECONDS = 20;
const BATCH = 200;
const MIN_RETENTION_SECONDS = 60;

/**
 * Sets right what a crash between two systems can leave: a run whose workflow start was lost, a run whose workflow was
 * ended from outside, a cancel whose signal was lost. Idempotent; any number may run at once.
 */
export async function reconcileRuns(deps: ActivityDependencies): Promise<ReconcileReport> {
  const { stores, gateway } = deps;
  const report: ReconcileReport = { started: 0, closed: 0, signalled: 0, pruned: 0 };
  for (const row of await stores.runs.unstarted(UNSTARTED_AFTER_SECONDS, BATCH)) {
    await apart(deps, row, async () => {
      await gateway.start(row);
      await stores.runs.markWorkflowStarted(row.runId);
      report.started += 1;
    });
  }
  for (const row of await stores.runs.quiet(QUIET_AFTER_SECONDS, BATCH)) {
    await apart(deps, row, async () => {
      const done = await lookAfter(deps, row);
      if (done !== null) report[done] += 1;
    });
  }
  const { config } = await deps.setups.newest();
  const retention = Math.max(MIN_RETENTION_SECONDS, config.stream_bridge.recovered_stream_cleanup_delay_seconds);
  report.pruned = await stores.events.prune(retention);
  await stores.configurations.prune();
  return report;
}

const STOPPED: RunError = {
  name: 'RunStoppedError',
  message: 'The run was stopped from outside before it ended.',
  code: 'orphaned',
};

/** The least that ends a run: where even its ending fails, its thread must not stay blocked for ever. */
const PLAIN_ENDING: RunEnding = {
  status: 'error',
  error: STOPPED,
  stopReason: null,
  rollback: false,
  threadStatus: 'error',
  commit: { events: [{ kind: 'run-end', payload: {} }] },
};

/** A run that cannot be set right must not keep the others waiting: it is looked at again the next time. */
async function apart(deps: ActivityDependencies, row: RunRow, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    deps.log.error({ err: error, runId: row.runId, threadId: row.threadId }, 'a run could not be set right');
  }
}

async function lookAfter(deps: ActivityDependencies, row: RunRow): Promise<'closed' | 'signalled' | null> {
  const state = await deps.gateway.state(row.runId);
  if (state === 'running') {
    if (row.cancelAction === null) return null;
    await deps.gateway.cancel(row, row.cancelAction);
    return 'signalled';
  }
  deps.log.warn({ runId: row.runId, threadId: row.threadId, state }, 'a run outlived its workflow and is closed');
  const outcome: RunOutcome = { kind: 'failed', code: 'orphaned', name: STOPPED.name, message: STOPPED.message };
  try {
    await finishRun(deps, { runId: row.runId, outcome });
  } catch (error) {
    if (isAppError(error, 'unavailable')) throw error;
    deps.log.error({ err: error, runId: row.runId }, 'a run cannot be closed in full and is closed plainly');
    await deps.stores.runs.end(row.runId, () => PLAIN_ENDING);
  }
  return 'closed';
}
