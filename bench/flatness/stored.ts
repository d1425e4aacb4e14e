/** Reads what a run left in PostgreSQL and in Temporal. */
import type { Pool } from 'pg';

/** Bytes of all tables of the product with their indexes and out-of-line values, as they lie on disk. */
const STORED_BYTES = `select coalesce(sum(pg_total_relation_size(c.oid)), 0)::float8 from pg_class c
  where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'`;

/** How many turns a run has behind it, and what is stored by then. */
export async function storedNow(pool: Pool, runId: string): Promise<{ turn: number; bytes: number }> {
  const { rows } = await pool.query<{ turn: number; bytes: number }>(
    `select (select coalesce(max(turn), 0) from model_turns where run_id = $1) as turn, (${STORED_BYTES}) as bytes`,
    [runId],
  );
  return rows[0] ?? { turn: 0, bytes: 0 };
}

/** When the reply of each turn was committed, in milliseconds since the epoch. */
export async function commitTimes(pool: Pool, runId: string): Promise<number[]> {
  const { rows } = await pool.query<{ at: number }>(
    `select extract(epoch from c.created_at)::float8 * 1000 as at
     from runs r
     join model_turns t on t.run_id = r.run_id and t.turn > 0
     join thread_messages m on m.thread_id = r.thread_id and m.message_id = t.message_id
     join checkpoints c on c.thread_id = m.thread_id and c.watermark = m.since
     where r.run_id = $1 order by t.turn`,
    [runId],
  );
  return rows.map(({ at }) => at);
}

/** What is wrong with what a finished run left; null where it is as it must be. */
export async function faultOf(pool: Pool, runId: string, turns: number): Promise<string | null> {
  const { rows } = await pool.query<{ status: string; calls: number; replies: number; dense: boolean }>(
    `select r.status, r.llm_call_count as calls,
       (select count(*)::int from model_turns t where t.run_id = r.run_id and t.turn > 0) as replies,
       (select count(*) = max(number) + 1 from run_events e where e.run_id = r.run_id) as dense
     from runs r where r.run_id = $1`,
    [runId],
  );
  const run = rows[0];
  if (run === undefined) return 'the run is not stored';
  if (run.status !== 'success') return `the run ended with status ${run.status}`;
  if (run.calls !== turns || run.replies !== turns) {
    return `the run of ${turns} turns made ${run.calls} calls of the model and stored ${run.replies} replies`;
  }
  return run.dense ? null : "the run's events have a gap";
}
