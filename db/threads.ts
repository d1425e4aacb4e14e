import type { JsonObject } from '../contracts';
import type { Database, Queryable } from './database';
import { translateErrors } from './errors';
import { commitStep } from './message-log';
import type { ThreadCopy } from './thread-copy';
import { copyThread } from './thread-copy';

export interface ThreadRow {
  threadId: string;
  owner: string;
  status: 'idle' | 'busy' | 'interrupted' | 'error';
  metadata: JsonObject;
  title: string | null;
  createdAt: string;
  updatedAt: string;
}

export interface ThreadSearch {
  owner: string;
  /** Exact, type-strict matches on metadata keys. */
  metadata: JsonObject;
  status?: string;
  archived?: boolean;
  ids?: string[];
  sortBy: 'created_at' | 'updated_at' | 'thread_id' | 'status';
  sortOrder: 'asc' | 'desc';
  limit: number;
  offset: number;
}

export interface ThreadStore {
  /** Creates the thread, or gives back the one that is there. Null where the id belongs to another owner. */
  create(thread: {
    threadId: string;
    owner: string;
    metadata: JsonObject;
  }): Promise<{ row: ThreadRow; created: boolean } | null>;
  get(owner: string, threadId: string): Promise<ThreadRow | null>;
  /** The owner of a thread, whoever asks: to tell "not there" from "somebody else's". */
  ownerOf(threadId: string): Promise<string | null>;
  search(search: ThreadSearch): Promise<ThreadRow[]>;
  count(search: Pick<ThreadSearch, 'owner' | 'metadata' | 'status'>): Promise<number>;
  mergeMetadata(owner: string, threadId: string, metadata: JsonObject, touch: boolean): Promise<ThreadRow | null>;
  /** Takes the thread for an operation that is no run. False where a run or another operation has it. */
  hold(owner: string, threadId: string, reason: string): Promise<boolean>;
  release(threadId: string): Promise<void>;
  /** False where there is no such thread, or a run has it. */
  delete(owner: string, threadId: string): Promise<boolean>;
  /** A new thread with another's state and history; see `copyThread`. */
  copy(copy: ThreadCopy): Promise<ThreadRow | null>;
}

const COLUMNS = `thread_id as "threadId", owner, status, metadata, created_at as "createdAt", updated_at as "updatedAt",
  (select value #>> '{}' from thread_channels c
    where c.thread_id = threads.thread_id and channel = 'title' and until is null) as title`;

/** A hold left behind by a process that died is void after this time. */
const HOLD_LIFETIME = "interval '2 minutes'";

export function createThreadStore(database: Database): ThreadStore {
  const { pool } = database;
  const one = async (client: Queryable, sql: string, parameters: unknown[]): Promise<ThreadRow | null> =>
    translateErrors(async () => (await client.query<ThreadRow>(sql, parameters)).rows[0] ?? null);

  const get = (owner: string, threadId: string) =>
    one(pool, `select ${COLUMNS} from threads where thread_id = $1 and owner = $2`, [threadId, owner]);

  return {
    get,
    async create({ threadId, owner, metadata }) {
      const created = await database.transaction((client) => insertThread(client, { threadId, owner, metadata }));
      if (created !== null) return { row: created, created: true };
      const row = await get(owner, threadId);
      return row && { row, created: false };
    },
    async ownerOf(threadId) {
      const { rows } = await pool.query<{ owner: string }>('select owner from threads where thread_id = $1', [
        threadId,
      ]);
      return rows[0]?.owner ?? null;
    },
    search: (search) => translateErrors(() => searchThreads(pool, search)),
    async count(search) {
      const { conditions, parameters } = filters(search);
      const { rows } = await pool.query<{ count: number }>(
        `select count(*) as count from threads where ${conditions.join(' and ')}`,
        parameters,
      );
      return rows[0]?.count ?? 0;
    },
    mergeMetadata: (owner, threadId, metadata, touch) =>
      one(
        pool,
        `update threads set metadata = metadata || $3::jsonb${touch ? ', updated_at = now()' : ''}
         where thread_id = $1 and owner = $2 returning ${COLUMNS}`,
        [threadId, owner, metadata],
      ),
    hold: (owner, threadId, reason) =>
      whenFree(database, threadId, async (client) => {
        const { rowCount } = await client.query(
          `update threads set hold = $3, held_at = now()
           where thread_id = $1 and owner = $2 and (hold is null or held_at < now() - ${HOLD_LIFETIME})`,
          [threadId, owner, reason],
        );
        return rowCount === 1;
      }),
    async release(threadId) {
      await pool.query('update threads set hold = null where thread_id = $1', [threadId]);
    },
    delete: (owner, threadId) =>
      whenFree(database, threadId, async (client) => {
        const { rowCount } = await client.query('delete from threads where thread_id = $1 and owner = $2', [
          threadId,
          owner,
        ]);
        return rowCount === 1;
      }),
    async copy(copy) {
      const copied = await translateErrors(() => database.transaction((client) => copyThread(client, copy)));
      return copied ? get(copy.owner, copy.threadId) : null;
    },
  };
}

/**
 * Does something with a thread that no run has or waits for. The lock comes in a statement of its own: one that waits
 * for a row still sees all others as they were before it waited, and would miss the run that was admitted meanwhile.
 */
function whenFree(
  database: Database,
  threadId: string,
  work: (client: Queryable) => Promise<boolean>,
): Promise<boolean> {
  return translateErrors(() =>
    database.transaction(async (client) => {
      await client.query('select 1 from threads where thread_id = $1 for update', [threadId]);
      const { rowCount } = await client.query(
        "select 1 from runs where thread_id = $1 and admission <> 'ended' limit 1",
        [threadId],
      );
      return rowCount === 0 && (await work(client));
    }),
  );
}

/** A new thread with its empty first state; null where the id is taken. */
export async function insertThread(
  client: Queryable,
  thread: { threadId: string; owner: string; metadata: JsonObject },
): Promise<ThreadRow | null> {
  const { rows } = await client.query<ThreadRow>(
    `insert into threads (thread_id, owner, metadata) values ($1, $2, $3) on conflict do nothing returning ${COLUMNS}`,
    [thread.threadId, thread.owner, thread.metadata],
  );
  if (rows[0] === undefined) return null;
  await commitStep(client, { threadId: thread.threadId, checkpoint: { step: -1, source: 'input' }, touch: false });
  return rows[0];
}

function filters(search: Pick<ThreadSearch, 'owner' | 'metadata' | 'status' | 'archived' | 'ids'>) {
  const parameters: unknown[] = [search.owner];
  const conditions = ['owner = $1'];
  const bind = (value: unknown): string => `$${parameters.push(value)}`;
  if (Object.keys(search.metadata).length > 0) {
    // Containment compares JSON types too, so `true` is not `1`; a null must be there, not missing.
    conditions.push(`metadata @> ${bind(JSON.stringify(search.metadata))}::jsonb`);
  }
  if (search.status !== undefined) conditions.push(`status = ${bind(search.status)}`);
  if (search.ids !== undefined) conditions.push(`thread_id = any(${bind(search.ids)})`);
  if (search.archived !== undefined) {
    conditions.push(`coalesce(metadata -> 'deerflow_archived' = 'true'::jsonb, false) = ${bind(search.archived)}`);
  }
  return { conditions, parameters };
}

async function searchThreads(client: Queryable, search: ThreadSearch): Promise<ThreadRow[]> {
  const { conditions, parameters } = filters(search);
  const direction = search.sortOrder === 'asc' ? 'asc' : 'desc';
  const { rows } = await client.query<ThreadRow>(
    `select ${COLUMNS} from threads where ${conditions.join(' and ')}
     order by coalesce(metadata -> 'deerflow_pinned' = 'true'::jsonb, false) desc, ${search.sortBy} ${direction}, thread_id desc
     limit $${parameters.push(search.limit)} offset $${parameters.push(search.offset)}`,
    parameters,
  );
  return rows;
}
