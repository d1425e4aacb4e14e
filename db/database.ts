import { Pool, types as pgTypes } from 'pg';
import type { PoolClient } from 'pg';
import { AppError } from '../contracts';

export interface DatabaseOptions {
  url: string;
  /** Postgres schema that holds all tables; created by the migrations. */
  schema: string;
  /** Connections of this process. */
  maxConnections: number;
  applicationName: string;
  onError?: (error: Error) => void;
}

/** Anything that runs a query: the pool, or a connection inside a transaction. */
export type Queryable = Pick<PoolClient, 'query'>;

export interface Database {
  readonly pool: Pool;
  readonly options: DatabaseOptions;
  transaction<T>(work: (client: PoolClient) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const INT8 = 20;
const TIMESTAMPTZ = 1184;
const SCHEMA_PATTERN = /^[a-z_][a-z0-9_]{0,62}$/;
const CONNECT_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 30_000;
const ANSWER_GRACE_MS = 5_000;

/** A process that is lost in the middle of a transaction must not keep its locks: the next statement is never far. */
const IDLE_IN_TRANSACTION_MS = 10_000;

/** Counters fit a double; timestamps stay text, so that their microseconds are not lost. */
const typeParsers = {
  getTypeParser(oid: number, format?: 'text' | 'binary'): unknown {
    if (oid === INT8) return Number;
    if (oid === TIMESTAMPTZ) return toIsoTimestamp;
    return pgTypes.getTypeParser(oid, format);
  },
};

/** Postgres writes `2026-01-02 03:04:05.678901+00`; clients read `2026-01-02T03:04:05.678901+00:00`. */
function toIsoTimestamp(text: string): string {
  return text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00');
}

export function createDatabase(options: DatabaseOptions): Database {
  if (!SCHEMA_PATTERN.test(options.schema)) {
    throw new AppError('configuration', `database schema "${options.schema}" must match ${SCHEMA_PATTERN.source}`);
  }
  const pool = new Pool({
    connectionString: options.url,
    max: options.maxConnections,
    application_name: options.applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    // The server's own limit does not reach a connection on which nothing arrives any more.
    query_timeout: STATEMENT_TIMEOUT_MS + ANSWER_GRACE_MS,
    keepAlive: true,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    options: `-c search_path=${options.schema} -c timezone=UTC`,
    types: typeParsers,
  });
  // A broken idle connection is replaced by the pool; without a listener it would end the process.
  pool.on('error', (error) => options.onError?.(error));
  return {
    pool,
    options,
    transaction: (work) => runTransaction(pool, work),
    close: () => pool.end(),
  };
}

async function runTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  // The pool listens only to idle connections: without a listener, one that breaks here would end the process.
  const onError = (error: Error): void => void (broken = error);
  client.on('error', onError);
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch((rollbackError: Error) => {
      broken = rollbackError;
    });
    throw error;
  } finally {
    client.off('error', onError);
    client.release(broken);
  }
}
