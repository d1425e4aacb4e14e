import { isAppError } from '../contracts';
import type { RunRow } from '../db';
import type { ActivityDependencies } from './dependencies';
import type { RunSetup } from './run-setups';

/** A run ends even where the configuration that it began with cannot be had any more. */
export async function setupForEnding({ setups, log }: ActivityDependencies, row: RunRow): Promise<RunSetup> {
  try {
    return await setups.of(row);
  } catch (error) {
    if (!isAppError(error, 'configuration')) throw error;
    log.warn({ err: error, runId: row.runId }, 'a run ends with the configuration of today instead of its own');
    return setups.newest();
  }
}
