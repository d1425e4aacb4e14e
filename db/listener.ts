import { Client } from 'pg';
import type { Database } from './database';

export interface Listener {
  /**
   * Calls back on every notification of a channel, the first one unless another is named; after a lost connection also
   * once with null: anything may have happened.
   */
  subscribe(onNotification: (payload: string | null) => void, channel?: string): () => void;
  close(): Promise<void>;
}

const RECONNECT_DELAY_MS = 500;

/**
 * One `LISTEN` connection for a whole process. It reconnects for ever: while the database is away, readers fall back on
 * their own slow polling.
 */
export function createListener(database: Database, ...channels: readonly [string, ...string[]]): Listener {
  const subscribers = new Set<{ channel: string; onNotification: (payload: string | null) => void }>();
  let client: Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  /** Without a channel everybody is told. */
  const tell = (payload: string | null, told?: string): void =>
    subscribers.forEach(({ channel, onNotification }) => {
      if (told === undefined || told === channel) onNotification(payload);
    });

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
    fresh.on('notification', ({ channel, payload }) => tell(payload ?? '', channel));
    client = fresh;
    try {
      await fresh.connect();
      for (const channel of channels) await fresh.query(`listen ${channel}`);
      tell(null);
    } catch {
      await fresh.end().catch(() => undefined);
      if (client === fresh) reconnect();
    }
  }

  const ready = connect();
  return {
    subscribe(onNotification, channel = channels[0]) {
      const subscriber = { channel, onNotification };
      subscribers.add(subscriber);
      return () => subscribers.delete(subscriber);
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await ready;
      await client?.end().catch(() => undefined);
    },
  };
}
