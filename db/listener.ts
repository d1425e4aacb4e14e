import { Client } from 'pg';
import type { Database } from './database';

export interface Listener {
  /** Calls back on every notification; after a lost connection also once with null: anything may have happened. */
  subscribe(onNotification: (payload: string | null) => void): () => void;
  close(): Promise<void>;
}

const RECONNECT_DELAY_MS = 500;

/**
 * One `LISTEN` connection for a whole process. It reconnects for ever: while the database is away, readers fall back on
 * their own slow polling.
 */
export function createListener(database: Database, channel: string): Listener {
  const subscribers = new Set<(payload: string | null) => void>();
  let client: Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const tell = (payload: string | null): void => subscribers.forEach((subscriber) => subscriber(payload));

  const reconnect = (): void => {
    client = undefined;
    if (closed || timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      void connect();
    }, RECONNECT_DELAY_MS);
  };

  async function connect(): Promise<void> {
    const fresh = new Client({
      connectionString: database.options.url,
      application_name: `${database.options.applicationName} listener`,
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
    });
    fresh.on('error', () => undefined);
    fresh.on('end', reconnect);
    fresh.on('notification', (notification) => tell(notification.payload ?? ''));
    client = fresh;
    try {
      await fresh.connect();
      await fresh.query(`listen ${channel}`);
      tell(null);
    } catch {
      await fresh.end().catch(() => undefined);
      if (client === fresh) reconnect();
    }
  }

  const ready = connect();
  return {
    subscribe(onNotification) {
      subscribers.add(onNotification);
      return () => subscribers.delete(onNotification);
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await ready;
      await client?.end().catch(() => undefined);
    },
  };
}
