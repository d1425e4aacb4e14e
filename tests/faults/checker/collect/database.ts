import type { Pool, QueryResultRow } from 'pg';
import type { ConnectionFact, Evidence } from '../evidence';

type DatabaseEvidence = Pick<
  Evidence,
  'runs' | 'events' | 'messages' | 'turns' | 'toolCalls' | 'streams' | 'secrets' | 'threads' | 'journal' | 'connections'
>;

const milliseconds = (column: string): string => `(extract(epoch from ${column}) * 1000)::float8`;

/** Everything that the product's schema holds of its runs, in one read-only snapshot. */
export async function collectDatabase(pool: Pool): Promise<DatabaseEvidence> {
  const client = await pool.connect();
  try {
    await client.query('begin isolation level repeatable read read only');
    const many = async <T extends QueryResultRow>(sql: string): Promise<T[]> => (await client.query<T>(sql)).rows;
    const evidence: DatabaseEvidence = {
      runs: await many(RUNS),
      events: await many(EVENTS),
      messages: await many(MESSAGES),
      turns: await many(TURNS),
      toolCalls: await many(TOOL_CALLS),
      streams: await many(
        'select run_id as "runId", next_number as "nextNumber", closed from run_streams order by run_id',
      ),
      secrets: (await many<{ runId: string }>('select run_id as "runId" from run_secrets')).map(({ runId }) => runId),
      threads: await many(THREADS),
      journal: await many(JOURNAL),
      connections: [],
    };
    await client.query('commit');
    return { ...evidence, connections: await collectConnections(pool) };
  } finally {
    client.release();
  }
}

const RUNS = `select run_id as "runId", thread_id as "threadId",
    substring((kwargs -> 'input')::text from 'key-[A-Za-z0-9_]+') as key,
    status, admission, error ->> 'code' as "errorCode", llm_call_count as "llmCallCount",
    total_input_tokens::float8 as "inputTokens", total_output_tokens::float8 as "outputTokens",
    total_tokens::float8 as "totalTokens", ${milliseconds('created_at')} as "createdAt",
    ${milliseconds('ended_at')} as "endedAt"
  from runs order by ordinal`;

const EVENTS = `select run_id as "runId", number, (extract(epoch from at) * 1000)::bigint::float8 as at, kind
  from run_events order by run_id, number`;

const MESSAGES = `select thread_id as "threadId", run_id as "runId", since::float8, until::float8, position::float8, body
  from thread_messages order by thread_id, position, since`;

// The journal has the moment of the commit that stored a reply.
const TURNS = `select t.run_id as "runId", t.turn, t.message_id as "messageId",
    (select ${milliseconds('j.created_at')} from run_journal j
      where j.run_id = t.run_id and j.message_id = t.message_id and j.event_type = 'llm.ai.response' and t.turn > 0
      limit 1) as "committedAt"
  from model_turns t order by t.run_id, t.turn`;

const TOOL_CALLS = `select run_id as "runId", turn, place, tool_call_id as "toolCallId", name,
    message_id as "messageId", state, attempts, ${milliseconds('started_at')} as "startedAt",
    ${milliseconds('ended_at')} as "endedAt"
  from tool_calls order by run_id, turn, place`;

const THREADS = `select thread_id as "threadId", status, hold,
    coalesce((select to_json(next) from checkpoints c where c.thread_id = t.thread_id
      order by watermark desc limit 1), '[]') as "waitsFor"
  from threads t order by thread_id`;

const JOURNAL = `select thread_id as "threadId", run_id as "runId", seq::float8 as sequence, event_type as "eventType",
    message_id as "messageId"
  from run_journal order by thread_id, seq`;

async function collectConnections(pool: Pool): Promise<ConnectionFact[]> {
  const { rows } = await pool.query<ConnectionFact>(
    `select application_name as application, coalesce(state, 'unknown') as state,
            (extract(epoch from clock_timestamp() - xact_start) * 1000)::float8 as "transactionMs"
     from pg_stat_activity
     where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()
       and application_name like 'deerflow %'
     order by application_name, pid`,
  );
  return rows;
}
