import { ActivityFailure, ApplicationFailure, ContinueAsNew, isCancellation } from '@temporalio/workflow';
import type { CancelAction, RunOutcome } from '../contracts';

/** What a failure that stopped the loop means for the run. Continue-as-new is no failure and passes through. */
export function outcomeOfFailure(error: unknown, cancelAction: CancelAction | null): RunOutcome {
  if (error instanceof ContinueAsNew) throw error;
  if (cancelAction !== null || isCancellation(error)) return { kind: 'cancelled', action: cancelAction ?? 'interrupt' };
  const cause = causeOf(error);
  if (!(cause instanceof ApplicationFailure)) {
    // Left alone, an error of our own would fail the workflow task again and again.
    return { kind: 'failed', code: 'internal', name: 'RunError', message: 'An internal error stopped the run.' };
  }
  if (cause.type === 'run_cancelled') return { kind: 'cancelled', action: 'interrupt' };
  return {
    kind: 'failed',
    code: cause.type ?? 'internal',
    name: 'RunError',
    message: cause.message,
  };
}

/** An activity bound to one worker failed in a way that another worker may not. */
export function mayGoOnElsewhere(error: unknown): boolean {
  if (!(error instanceof ActivityFailure) || isCancellation(error)) return false;
  return !(error.cause instanceof ApplicationFailure && error.cause.nonRetryable === true);
}

/** For the log: what an activity said when it gave up. */
export function failureReason(error: unknown): string {
  const cause = causeOf(error);
  return cause instanceof Error ? cause.message : 'unknown';
}

function causeOf(error: unknown): unknown {
  return error instanceof ActivityFailure ? error.cause : error;
}
