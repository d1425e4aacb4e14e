import { setTimeout as delay } from 'node:timers/promises';
import { isAppError } from '../contracts';
import type { Logger } from '../observability';

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 500;
const LIMIT_MS = 120_000;
const REPORT_EVERY_MS = 5_000;

/** Tries until a service that starts at the same time is there; says what it waits for. */
export async function waitFor<T>(what: string, log: Logger, attempt: () => Promise<T>): Promise<T> {
  const begun = Date.now();
  let reported = begun;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    try {
      return await attempt();
    } catch (error) {
      if (isAppError(error, 'configuration') || Date.now() - begun > LIMIT_MS) throw error;
      if (Date.now() - reported >= REPORT_EVERY_MS) {
        reported = Date.now();
        log.warn({ err: error }, `waiting for ${what}`);
      }
      await delay(pause);
    }
  }
}
