import type { Database } from './database';
import { translateErrors } from './errors';

/** The configurations that runs began with, by their hash. They hold no secrets. */
export interface RunConfigurationStore {
  /** Makes sure that it is there for a run that begins now. Mostly without asking the database. */
  keep(configuration: { hash: string; body: string }): Promise<void>;
  body(hash: string): Promise<string | null>;
  /** Drops those that no run under way has begun with, and none begins with now; returns how many. */
  prune(): Promise<number>;
}

/** A process notes the use of one no more often than this, in milliseconds. */
const NOTE_INTERVAL_MS = 5 * 60_000;
/** Unused for this long it may be dropped. Far longer than a run needs to begin after its configuration was noted. */
const UNUSED_SECONDS = 3_600;
const MAX_NOTED = 1_000;

export function createRunConfigurationStore(database: Database, now: () => number = Date.now): RunConfigurationStore {
  const { pool } = database;
  const noted = new Map<string, number>();
  return {
    async keep({ hash, body }) {
      const before = noted.get(hash);
      if (before !== undefined && Math.abs(now() - before) < NOTE_INTERVAL_MS) return;
      await translateErrors(() =>
        pool.query(
          `insert into run_configurations (hash, body) values ($1, $2)
           on conflict (hash) do update set used_at = now()`,
          [hash, body],
        ),
      );
      if (noted.size >= MAX_NOTED) noted.clear();
      noted.set(hash, now());
    },
    body: (hash) =>
      translateErrors(async () => {
        const { rows } = await pool.query<{ body: string }>('select body from run_configurations where hash = $1', [
          hash,
        ]);
        return rows[0]?.body ?? null;
      }),
    prune: () =>
      translateErrors(async () => {
        const { rowCount } = await pool.query(
          `delete from run_configurations c where used_at < now() - make_interval(secs => $1)
             and not exists (select 1 from runs where admission = 'active' and config_hash = c.hash)`,
          [UNUSED_SECONDS],
        );
        return rowCount ?? 0;
      }),
  };
}
