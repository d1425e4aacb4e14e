import type { CancelAction } from '../../contracts';
import { AppError } from '../../contracts';
import { isCancellable } from '../../core/run-status';
import type { RunRow } from '../../db';
import type { ApiDependencies } from '../dependencies';
import { eventually } from './background';

/**
 * Cancels a run. When this resolves the wish is stored: it will happen, even if the signal that speeds it up got lost.
 * Repeating it changes nothing; the first action counts.
 */
export async function cancelRun(
  deps: Pick<ApiDependencies, 'stores' | 'gateway' | 'log'>,
  run: { owner: string; runId: string },
  action: CancelAction,
): Promise<RunRow> {
  const { runId } = run;
  const cancelled = await deps.stores.runs.requestCancel(run.owner, runId, action);
  if (cancelled === null) throw new AppError('run_not_found', `Run ${runId} not found`);
  const { row, signal } = cancelled;
  if (!isCancellable(row.status)) {
    throw new AppError('run_not_cancellable', `Run ${runId} is not cancellable (status: ${row.status})`);
  }
  const first = row.cancelAction ?? action;
  if (signal) {
    await eventually(() => deps.gateway.cancel(row, first), { log: deps.log, what: `cancelling run ${runId}` });
  }
  return row;
}

/** For a client that hung up: nobody is left to be told of a failure. */
export function cancelAfterHangUp(deps: Pick<ApiDependencies, 'stores' | 'gateway' | 'log'>, run: RunRow): void {
  cancelRun(deps, run, 'interrupt').catch((error: unknown) => {
    if (error instanceof AppError && error.code === 'run_not_cancellable') return;
    deps.log.warn({ err: error, runId: run.runId }, 'a run could not be cancelled after its client hung up');
  });
}
