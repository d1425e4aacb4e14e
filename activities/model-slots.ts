import { setTimeout as delay } from 'node:timers/promises';
import type { ModelPermitStore } from '../db';
import type { Logger } from '../observability';

/** Places among the calls under way, over all workers, first come first served. */
export interface ModelSlots {
  /** Waits for a place and keeps it until the work is over. */
  hold<T>(limit: number, signal: AbortSignal, work: () => Promise<T>): Promise<T>;
}

export interface ModelSlotsOptions {
  store: ModelPermitStore;
  log: Logger;
  leaseMs: number;
}

const POLL_MS = 100;
const LONGEST_SLEEP_MS = 1_000;

export function createModelSlots({ store, log, leaseMs }: ModelSlotsOptions): ModelSlots {
  /** Tickets of this process that wait, each with what ends its sleep. */
  const waiting = new Map<number, () => void>();

  /** Only the first of a process asks often: none behind it can be next, and what they ask for all must answer. */
  async function sleep(ticket: number, signal: AbortSignal): Promise<void> {
    const before = [...waiting.keys()].filter((other) => other < ticket).length;
    const woken = new AbortController();
    waiting.set(ticket, () => woken.abort());
    const pause = Math.min(POLL_MS * (before + 1), LONGEST_SLEEP_MS, leaseMs / 2);
    await delay(pause, undefined, { signal: AbortSignal.any([signal, woken.signal]) }).catch(() => undefined);
  }

  function leave(ticket: number | null): void {
    if (ticket !== null) waiting.delete(ticket);
    waiting.get(Math.min(...waiting.keys()))?.();
  }

  async function take(limit: number, signal: AbortSignal): Promise<number> {
    let ticket: number | null = null;
    try {
      for (;;) {
        signal.throwIfAborted();
        const slot = await store.takeSlot(limit, ticket, leaseMs);
        if (slot?.held === true) return slot.ticket;
        // Its lease was over: it comes again, as the last.
        if (slot === null && ticket !== null) waiting.delete(ticket);
        ticket = slot?.ticket ?? null;
        if (ticket !== null) await sleep(ticket, signal);
      }
    } catch (error) {
      if (ticket !== null) await free(ticket);
      throw error;
    } finally {
      leave(ticket);
    }
  }

  /** Should this fail, the lease ends by itself. */
  async function free(ticket: number): Promise<void> {
    await store.freeSlot(ticket).catch(() => undefined);
  }

  return {
    async hold(limit, signal, work) {
      if (limit === 0) return work();
      let ticket: number | null = await take(limit, signal);
      let renewed = Promise.resolve();
      let isRenewing = false;
      async function renew(): Promise<void> {
        isRenewing = true;
        try {
          // Where the lease was over, because the database was away, the call counts again as soon as it can.
          ticket = (await store.takeSlot(limit, ticket, leaseMs))?.ticket ?? null;
        } catch (error) {
          log.warn({ err: error }, 'the place of a model call could not be renewed');
        }
        isRenewing = false;
      }
      const renewal = setInterval(() => {
        if (!isRenewing) renewed = renew();
      }, leaseMs / 3);
      try {
        return await work();
      } finally {
        clearInterval(renewal);
        // What it took is given back, too.
        await renewed;
        if (ticket !== null) await free(ticket);
        leave(null);
      }
    },
  };
}
