/**
 * Identifiers that cross a boundary: their formats, and the workflow ids that an operator reads in the Temporal UI.
 */

/** Thread ids, chosen by clients or by us. */
export const THREAD_ID_PATTERN = /^[A-Za-z0-9_-]{1,64}$/;

/** Owner ids as used in file paths. */
export const OWNER_ID_PATTERN = /^[A-Za-z0-9_-]+$/;

/** The owner that everything belongs to while accounts are switched off. */
export const LOCAL_OWNER = 'default';

/** Id of the workflow that executes a run. Deriving it from the run id makes the start idempotent. */
export function runWorkflowId(runId: string): string {
  return `run/${runId}`;
}
