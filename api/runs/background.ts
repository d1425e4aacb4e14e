import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../observability';

/** Waits before each further try. After the last one the reconciler takes over. */
const RETRY_DELAYS_MS = [1_000, 2_000, 4_000, 8_000];

/** Longest time that a request waits for a call that can be made up for later. */
export const PATIENCE_MS = 5_000;

/**
 * Makes a call that the database already vouches for: what it says will happen, now or later. Resolves when the call is
 * done or the patience is over, and never rejects; further tries go on behind the caller's back.
 */
export async function eventually(
  call: () => Promise<void>,
  { log, what, patienceMs = PATIENCE_MS }: { log: Logger; what: string; patienceMs?: number },
): Promise<void> {
  const controller = new AbortController();
  const done = withRetries(call, log, what).finally(() => controller.abort());
  await Promise.race([
    done,
    delay(patienceMs, undefined, { signal: controller.signal, ref: false }).catch(() => undefined),
  ]);
}

async function withRetries(call: () => Promise<void>, log: Logger, what: string): Promise<void> {
  for (const wait of [0, ...RETRY_DELAYS_MS]) {
    if (wait > 0) await delay(wait, undefined, { ref: false });
    try {
      await call();
      return;
    } catch (error) {
      log.warn({ err: error }, `${what} failed; it will be tried again`);
    }
  }
}
