import type { JsonObject } from '../../contracts';
import { hasFailed, isTerminal } from '../../core/run-status';
import type { RunRow, Stores } from '../../db';
import type { ApiDependencies } from '../dependencies';
import { interruptKeys, valuesJson, withKeys } from '../state/values';

/** The row is read again this often even if no event tells of the end. */
const RECHECK_MS = 5_000;

/** Waits until a run has ended; null where the run is gone or the signal was aborted. */
export async function waitForEnd(
  deps: Pick<ApiDependencies, 'stores' | 'feeds'>,
  runId: string,
  signal: AbortSignal,
): Promise<RunRow | null> {
  const reader = await deps.feeds.open(runId, await deps.stores.events.lastNumber(runId));
  try {
    let row = await deps.stores.runs.load(runId);
    while (row !== null && !isTerminal(row.status) && !signal.aborted) {
      let events = await reader.next(signal, RECHECK_MS);
      while (events.length > 0 && events.at(-1)?.kind !== 'run-end') events = await reader.next(signal, RECHECK_MS);
      row = await deps.stores.runs.load(runId);
    }
    return signal.aborted ? null : row;
  } finally {
    reader.close();
  }
}

/**
 * What a run left, as JSON text: the thread's values at the run's own end, never those of a later run. A failure stands
 * beside them, where the official clients look for it.
 */
export async function finalValues({ log }: Pick<Stores, 'log'>, row: RunRow): Promise<string> {
  const watermark = row.endWatermark;
  const checkpoint = watermark === null ? null : await log.checkpointAt(row.threadId, watermark);
  if (watermark === null || checkpoint === null) return JSON.stringify(outcome(row));
  const values = valuesJson(await log.state(row.threadId, watermark));
  const ownCheckpoint = checkpoint.runId === row.runId;
  return withKeys(values, { ...interruptKeys(ownCheckpoint ? checkpoint.interrupts : []), ...failure(row) });
}

/** What is told of a run that an idempotency key found finished. */
export function outcome(row: RunRow): JsonObject {
  return { status: row.status, error: row.error?.message ?? null };
}

function failure({ status, error }: RunRow): JsonObject {
  if (!hasFailed(status)) return {};
  return {
    __error__: { error: error?.name ?? 'RunFailed', message: error?.message ?? 'The run did not complete.' },
  };
}
