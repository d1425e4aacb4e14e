import type { JsonObject, JsonValue } from '../contracts';
import type { Database } from './database';
import { translateErrors } from './errors';

/** One event of the audit record as clients read it. */
export interface JournalRow {
  thread_id: string;
  run_id: string;
  seq: number;
  event_type: string;
  category: string;
  content: JsonValue;
  metadata: JsonObject;
  created_at: string;
}

export interface JournalMessageRow extends JournalRow {
  /** Whole seconds that the run took, on its last model reply once it has ended. */
  turnDuration: number | null;
}

export interface MessageQuery {
  limit: number;
  beforeSeq?: number;
  afterSeq?: number;
}

export interface JournalStore {
  /** Message events of a thread, oldest first: after a sequence, before one, or the newest. */
  threadMessages(threadId: string, query: MessageQuery): Promise<JournalMessageRow[]>;
  /** What a person sees of a thread: no middleware, no sub-agents, no runs that were replaced or rolled back. */
  visibleMessages(threadId: string, query: MessageQuery): Promise<JournalMessageRow[]>;
  runMessages(runId: string, query: MessageQuery): Promise<JournalMessageRow[]>;
  runEvents(
    runId: string,
    query: { types?: string[]; taskId?: string; afterSeq?: number; limit: number },
  ): Promise<JournalRow[]>;
}

const COLUMNS = `j.thread_id, j.run_id, j.seq, j.event_type, j.category,
  coalesce(j.content::json, m.body) as content, j.metadata, j.created_at`;

const JOIN_MESSAGE = `left join thread_messages m
  on m.thread_id = j.thread_id and m.message_id = j.message_id and m.since = j.message_since`;

const TURN_DURATION = `case when j.event_type = 'llm.ai.response' and r.ended_at is not null
    and not exists (select 1 from run_journal later
      where later.run_id = j.run_id and later.event_type = 'llm.ai.response' and later.seq > j.seq)
  then floor(extract(epoch from r.ended_at - coalesce(r.started_at, r.created_at)))::int end as "turnDuration"`;

/** Rows of a copied thread outlive the runs that wrote them. */
const VISIBLE = `not coalesce(r.superseded, false) and coalesce(j.metadata ->> 'caller', '') !~ '^(middleware|subagent)'`;

export function createJournalStore(database: Database): JournalStore {
  const { pool } = database;

  async function messages(condition: string, key: string, query: MessageQuery): Promise<JournalMessageRow[]> {
    const forward = query.afterSeq !== undefined;
    return translateErrors(async () => {
      const { rows } = await pool.query<JournalMessageRow>(
        `select ${COLUMNS}, ${TURN_DURATION} from run_journal j left join runs r on r.run_id = j.run_id ${JOIN_MESSAGE}
         where ${condition} and j.category = 'message'
           and ($2::bigint is null or j.seq > $2) and ($3::bigint is null or j.seq < $3)
         order by j.seq ${forward ? 'asc' : 'desc'} limit $4`,
        [key, query.afterSeq ?? null, query.beforeSeq ?? null, query.limit],
      );
      return forward ? rows : rows.reverse();
    });
  }

  return {
    threadMessages: (threadId, query) => messages('j.thread_id = $1', threadId, query),
    visibleMessages: (threadId, query) => messages(`j.thread_id = $1 and ${VISIBLE}`, threadId, query),
    runMessages: (runId, query) => messages('j.run_id = $1', runId, query),
    runEvents: (runId, query) =>
      translateErrors(async () => {
        const { rows } = await pool.query<JournalRow>(
          `select ${COLUMNS} from run_journal j ${JOIN_MESSAGE}
           where j.run_id = $1 and j.seq > $2 and ($3::text[] is null or j.event_type = any($3))
             and ($4::text is null or j.content ->> 'task_id' = $4 or j.metadata ->> 'task_id' = $4)
           order by j.seq limit $5`,
          [runId, query.afterSeq ?? 0, query.types ?? null, query.taskId ?? null, query.limit],
        );
        return rows;
      }),
  };
}
