import type { CancelAction, JsonValue, Message, RunEventKind, RunOptions } from '../contracts';
import type { Database } from './database';
import { translateErrors } from './errors';
import type { Admission } from './run-row';

/** What a step needs to know before it works, read in one round trip. */
export interface StepFacts {
  threadId: string;
  owner: string;
  assistantId: string;
  admission: Admission;
  cancelAction: CancelAction | null;
  options: RunOptions;
  modelName: string | null;
  stepsBefore: number;
  logSeq: number;
  /** Tokens of the run so far. */
  spent: { input: number; output: number; total: number };
  /** Distinguishes a thread from a later one of the same id. */
  threadCreatedAt: string;
  title: string | null;
  /** Kind of the run's newest stream event. */
  lastEventKind: RunEventKind | null;
  /** The committed outcome of the turn asked for. */
  outcome: JsonValue | null;
}

export interface MessageChange {
  messageId: string;
  position: number;
  /** Null where the message is gone. */
  message: Message | null;
}

export interface TurnStore {
  facts(runId: string, turn: number): Promise<StepFacts | null>;
  /** What changed in a thread's messages after a log sequence; -1 gives all. In order of position. */
  changesSince(threadId: string, seq: number): Promise<MessageChange[]>;
}

/** Runs whose options are kept: they hold the whole input, and nothing changes them. */
const MAX_KNOWN_OPTIONS = 200;

export function createTurnStore(database: Database): TurnStore {
  const { pool } = database;
  const knownOptions = new Map<string, RunOptions>();

  function remember(runId: string, options: RunOptions): void {
    knownOptions.delete(runId);
    knownOptions.set(runId, options);
    const [oldest] = knownOptions.keys();
    if (knownOptions.size > MAX_KNOWN_OPTIONS && oldest !== undefined) knownOptions.delete(oldest);
  }

  return {
    facts: (runId, turn) =>
      translateErrors(async () => {
        const known = knownOptions.get(runId);
        const { rows } = await pool.query<StepFacts>({
          name: 'step-facts',
          text: `select r.thread_id as "threadId", r.owner, r.assistant_id as "assistantId", r.admission,
                  r.cancel_action as "cancelAction", case when $3 then r.options end as options,
                  r.model_name as "modelName", t.log_seq as "logSeq", t.created_at as "threadCreatedAt",
                  json_build_object('input', r.total_input_tokens, 'output', r.total_output_tokens,
                    'total', r.total_tokens) as spent,
                  (select step from checkpoints c where c.thread_id = r.thread_id order by watermark desc limit 1)
                    as "stepsBefore",
                  (select value #>> '{}' from thread_channels c
                    where c.thread_id = r.thread_id and channel = 'title' and until is null) as title,
                  (select kind from run_events e where e.run_id = r.run_id order by number desc limit 1)
                    as "lastEventKind",
                  (select outcome from model_turns m where m.run_id = r.run_id and m.turn = $2) as outcome
           from runs r join threads t using (thread_id) where r.run_id = $1`,
          values: [runId, turn, known === undefined],
        });
        const [facts] = rows;
        if (facts === undefined) return null;
        const options = known ?? facts.options;
        remember(runId, options);
        return { ...facts, options };
      }),
    changesSince: (threadId, seq) =>
      translateErrors(async () => {
        const { rows } = await pool.query<MessageChange & { open: boolean }>({
          name: seq < 0 ? 'all-messages' : 'changed-messages',
          text:
            seq < 0
              ? `select message_id as "messageId", position, body as message, true as open
               from thread_messages where thread_id = $1 and until is null and since > $2 order by position, since`
              : `select message_id as "messageId", position, case when until is null then body end as message,
                      until is null as open, since
               from thread_messages where thread_id = $1 and since > $2
               union all
               select message_id, position, null, false, since
               from thread_messages where thread_id = $1 and until > $2 and since <= $2
               order by position, since`,
          values: [threadId, seq],
        });
        const open = new Set(rows.filter((row) => row.open).map((row) => row.messageId));
        return rows.filter((row) => row.open || !open.has(row.messageId));
      }),
  };
}
