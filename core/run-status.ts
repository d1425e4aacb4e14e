/**
 * The run state machine. No other file compares status strings.
 *
 * pending -> running -> success | error | interrupted | timeout, and pending -> error | interrupted when a run is
 * cancelled before it begins.
 */
import type { CancelAction, RunError, RunStatus } from '../contracts';

const TRANSITIONS: Record<RunStatus, readonly RunStatus[]> = {
  pending: ['running', 'interrupted', 'error', 'timeout'],
  running: ['success', 'error', 'interrupted', 'timeout'],
  success: [],
  error: [],
  timeout: [],
  interrupted: [],
};

export function isTerminal(status: RunStatus): boolean {
  return TRANSITIONS[status].length === 0;
}

export function canBecome(from: RunStatus, to: RunStatus): boolean {
  return TRANSITIONS[from].includes(to);
}

/** A run that was interrupted may be cancelled again: the wish is already fulfilled. */
export function isCancellable(status: RunStatus): boolean {
  return !isTerminal(status) || status === 'interrupted';
}

/** Whether a run ended without doing what it was asked, and nobody had asked it to stop. */
export function hasFailed(status: RunStatus): boolean {
  return status === 'error' || status === 'timeout';
}

export function hasSucceeded(status: RunStatus): boolean {
  return status === 'success';
}

export function statusAfterCancel(action: CancelAction): RunStatus {
  return action === 'rollback' ? 'error' : 'interrupted';
}

export const ROLLED_BACK_ERROR: RunError = {
  name: 'RunRolledBack',
  message: 'Rolled back by user',
  code: 'run_cancelled',
};
