import { setTimeout as delay } from 'node:timers/promises';
import { isDatabaseUnavailable } from '../db';
import { isAppError } from '../contracts';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;

/**
 * Stores what was hard to get, a reply or the result of a tool, however long the database is away: giving up would mean
 * to ask again or not to know. The signal ends the waiting, with the last failure. Only for what can be repeated.
 */
export async function throughOutage<T>(signal: AbortSignal, store: () => Promise<T>): Promise<T> {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    try {
      return await store();
    } catch (error) {
      if (signal.aborted || !(isAppError(error, 'unavailable') || isDatabaseUnavailable(error))) throw error;
      await delay(pause, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) throw error;
    }
  }
}
