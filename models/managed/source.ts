import type { ModelConfig } from '../../contracts/schemas/config';
import type { ManagedModelRecord } from '../../contracts/schemas/managed-models';
import type { Logger } from '../../observability';
import { offeredEntries } from './merge';

/** The managed models that are offered now, in one process. */
export interface ManagedModelSource {
  /** The same list until something has changed. Empty until `refresh` was called once. */
  current(): readonly ModelConfig[];
  /** Looks at the catalogue. Never rejects: what was there stays where the catalogue cannot be read. */
  refresh(): Promise<void>;
  onChange(listener: () => void): () => void;
  close(): void;
}

export interface ManagedModelSourceOptions {
  load: () => Promise<readonly ManagedModelRecord[]>;
  /** Calls back when the catalogue may have changed. */
  subscribe: (onNotification: () => void) => () => void;
  log: Logger;
  pollMs?: number;
}

/** Only makes up for a connection that is dead without saying so. */
const POLL_MS = 5_000;

export function createManagedModelSource(options: ManagedModelSourceOptions): ManagedModelSource {
  const { load, subscribe, log, pollMs = POLL_MS } = options;
  const listeners = new Set<() => void>();
  let entries: readonly ModelConfig[] = [];
  let mark = '[]';
  let failing = false;
  let underWay: Promise<void> | null = null;
  let next: Promise<void> | null = null;

  async function look(): Promise<void> {
    try {
      const records = await load();
      if (failing) log.info('managed models can be read again');
      failing = false;
      const seen = JSON.stringify(records.map(({ name, revision }) => [name, revision]));
      if (seen === mark) return;
      mark = seen;
      entries = offeredEntries(records);
      listeners.forEach((listener) => listener());
    } catch (error) {
      if (!failing) log.error({ err: error }, 'managed models cannot be read; those that were known stay');
      failing = true;
    }
  }

  /** A change during a look is seen by the one behind it, which all who ask meanwhile share. */
  function refresh(): Promise<void> {
    if (underWay === null) {
      underWay = look().finally(() => (underWay = null));
      return underWay;
    }
    next ??= underWay.then(() => {
      next = null;
      return refresh();
    });
    return next;
  }

  const unsubscribe = subscribe(() => void refresh());
  const timer = setInterval(() => void refresh(), pollMs);
  timer.unref();
  return {
    current: () => entries,
    refresh,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close() {
      clearInterval(timer);
      unsubscribe();
    },
  };
}
