import { isAppError } from '../contracts';

/** Whether an error says that the run is over: it ends the call and never becomes a result for the model. */
export function isRunEnded(error: unknown): boolean {
  return isAppError(error, 'run_closed') || isAppError(error, 'run_cancelled') || isAppError(error, 'orphaned');
}
