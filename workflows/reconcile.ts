import { reconcileRuns } from './activities';
import type { ReconcileReport } from '../contracts';

/** Fired by a schedule: sets right what a crash between Postgres and Temporal can leave. */
export async function reconcile(): Promise<ReconcileReport> {
  return reconcileRuns();
}
