import type { InvalidToolCall, JsonObject } from '../contracts';
import type { Database } from './database';
import { translateErrors } from './errors';

export interface WritePlanRow {
  path: string;
  before: string | null;
  after: string;
}

/** What the ledger knows of a call before it runs. */
export interface LedgerEntry {
  state: 'planned' | 'started' | 'done';
  /** How often it was started. */
  attempts: number;
  turn: number;
  place: number;
  name: string;
  messageId: string;
  writePlan: WritePlanRow | null;
  /** The arguments as the reply holds them; null where they were no JSON object. */
  args: JsonObject | null;
  /** Why the call cannot run, where its arguments were refused. */
  invalid: InvalidToolCall | null;
}

/** A call is named by its run, its turn and its id: some providers use the same ids again in every reply. */
export interface CallKey {
  runId: string;
  turn: number;
  toolCallId: string;
}

export interface PlannedCall {
  turn: number;
  toolCallId: string;
  name: string;
}

export interface ToolLedger {
  entry(key: CallKey): Promise<LedgerEntry | null>;
  /**
   * Marks the call as started. A side effect may happen only after this has been committed. False where another attempt
   * was quicker since the entry was read: that one has the effect. False also where the run has ended.
   */
  start(key: CallKey, entry: Pick<LedgerEntry, 'attempts'>, writePlan: WritePlanRow | null): Promise<boolean>;
  /** Paths that a run presented, by tool. */
  presented(runId: string): Promise<Record<string, string[]>>;
}

export function createToolLedger(database: Database): ToolLedger {
  const { pool } = database;
  return {
    entry: (key) =>
      translateErrors(async () => {
        const { rows } = await pool.query<LedgerEntry>({
          name: 'ledger-entry',
          text: `select c.state, c.attempts, c.turn, c.place, c.name, c.message_id as "messageId", c.write_plan as "writePlan",
                  (select call -> 'args' from json_array_elements(m.body -> 'tool_calls') call
                    where call ->> 'id' = c.tool_call_id limit 1) as args,
                  (select call from json_array_elements(m.body -> 'invalid_tool_calls') call
                    where call ->> 'id' = c.tool_call_id limit 1) as invalid
           from tool_calls c join runs r using (run_id)
           left join lateral (
             select body from thread_messages
             where thread_id = r.thread_id and message_id = c.message_id and until is null limit 1) m on true
           where c.run_id = $1 and c.turn = $2 and c.tool_call_id = $3`,
          values: [key.runId, key.turn, key.toolCallId],
        });
        return rows[0] ?? null;
      }),
    start: (key, { attempts }, writePlan) =>
      translateErrors(async () => {
        const { rowCount } = await pool.query(
          `update tool_calls set state = 'started', attempts = attempts + 1, started_at = coalesce(started_at, now()),
                  write_plan = coalesce($4::jsonb, write_plan)
           where run_id = $1 and turn = $2 and tool_call_id = $3 and state <> 'done' and attempts = $5
             and exists (select 1 from runs where run_id = $1 and admission = 'active')`,
          [key.runId, key.turn, key.toolCallId, writePlan === null ? null : JSON.stringify(writePlan), attempts],
        );
        return rowCount === 1;
      }),
    presented: (runId) =>
      translateErrors(async () => {
        const { rows } = await pool.query<{ name: string; paths: string[] }>(
          `select name, jsonb_agg(path order by turn, place, path) as paths
           from tool_calls, jsonb_array_elements_text(presented) path where run_id = $1 group by name`,
          [runId],
        );
        return Object.fromEntries(rows.map((row) => [row.name, [...new Set(row.paths)]]));
      }),
  };
}
