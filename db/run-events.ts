import type { RunEvent, RunEventInput } from '../contracts';
import type { Database } from './database';
import { translateErrors } from './errors';
import { eventParameters } from './message-log';

export interface RunEventStore {
  /**
   * Adds events; throws `run_closed` once the run has ended and `already_committed` once the turn that they belong to is
   * committed. Returns the number of the first.
   */
  append(runId: string, events: RunEventInput[], turn?: number): Promise<number>;
  /** Events after a number, in order. */
  read(runId: string, after: number, limit: number): Promise<RunEvent[]>;
  /** Number of the newest event that is not newer than an SSE id; -1 where there is none. */
  position(runId: string, at: number, number: number): Promise<number>;
  /** Number of the newest event; -1 where there is none. */
  lastNumber(runId: string): Promise<number>;
  /** Drops the events of runs that ended before the retention; returns how many runs were pruned. */
  prune(retentionSeconds: number): Promise<number>;
}

const MILLISECONDS = '(extract(epoch from e.at) * 1000)::bigint';

export function createRunEventStore(database: Database): RunEventStore {
  const { pool } = database;
  const newest = (sql: string, parameters: unknown[]): Promise<number> =>
    translateErrors(async () => (await pool.query<{ number: number | null }>(sql, parameters)).rows[0]?.number ?? -1);

  return {
    append: (runId, events, turn) =>
      translateErrors(async () => {
        const { rows } = await pool.query<{ first: number }>({
          name: 'append-events',
          text: 'select append_run_events($1, $2::jsonb, null, $3::int) as first',
          values: [runId, JSON.stringify(events.map(eventParameters)), turn ?? null],
        });
        return rows[0]?.first ?? 0;
      }),
    read: (runId, after, limit) =>
      translateErrors(async () => {
        const { rows } = await pool.query<RunEvent>({
          name: 'read-events',
          text: `select e.run_id as "runId", e.number, ${MILLISECONDS} as at, e.kind,
                  e.payload::text as payload, m.body::text as message
           from run_events e
           left join runs r on e.message_id is not null and r.run_id = e.run_id
           left join thread_messages m
             on m.thread_id = r.thread_id and m.message_id = e.message_id and m.since = e.message_since
           where e.run_id = $1 and e.number > $2 order by e.number limit $3`,
          values: [runId, after, limit],
        });
        return rows;
      }),
    position: (runId, at, number) =>
      newest(
        // An event that is there is its own answer: a clock that was set back must not make later ones look older.
        `select coalesce(
           (select e.number from run_events e
             where e.run_id = $1 and e.number::bigint = $3::bigint and ${MILLISECONDS} = $2::bigint),
           (select max(e.number) from run_events e
             where e.run_id = $1 and (${MILLISECONDS}, e.number::bigint) <= ($2::bigint, $3::bigint))) as number`,
        [runId, at, number],
      ),
    lastNumber: (runId) => newest('select max(e.number) as number from run_events e where e.run_id = $1', [runId]),
    async prune(retentionSeconds) {
      const { rowCount } = await pool.query(
        `with ended as (
           select run_id from runs where ended_at < now() - make_interval(secs => $1)
             and exists (select 1 from run_events e where e.run_id = runs.run_id)
           limit 500)
         delete from run_events using ended where run_events.run_id = ended.run_id`,
        [retentionSeconds],
      );
      return rowCount ?? 0;
    },
  };
}
