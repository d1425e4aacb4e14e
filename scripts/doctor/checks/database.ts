import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { findInstallation } from '../../../workers/stack/project-root';
import type { Finding } from '../finding';

const ABOUT = 'database';
const TIMEOUT_MS = 10_000;
/** What our migrations use is in every version from here on. */
const MINIMUM_VERSION = 15;

export interface DatabaseCheckOptions {
  url: string;
  schema: string;
}

export async function checkDatabase({ url, schema }: DatabaseCheckOptions): Promise<Finding[]> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
    application_name: 'deerflow doctor',
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return [await checkVersion(client), await checkSchema(client, schema), await checkCommit(client)];
  } catch (error) {
    const text = `PostgreSQL cannot be used (${codeOf(error)})`;
    return [{ about: ABOUT, status: 'refused', text, remedy: 'start it, or correct DATABASE_URL' }];
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Never the message: it may hold the address with its password. */
function codeOf(error: unknown): string {
  const code: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, 'code') : undefined;
  return typeof code === 'string' ? code : 'no answer';
}

async function checkVersion(client: Client): Promise<Finding> {
  const { rows } = await client.query<{ version: string }>("select current_setting('server_version') as version");
  const version = rows[0]?.version ?? 'unknown';
  const text = `PostgreSQL ${version.split(' ')[0]} answers`;
  if (Number.parseInt(version, 10) >= MINIMUM_VERSION) return { about: ABOUT, status: 'ok', text };
  const remedy = `use PostgreSQL ${MINIMUM_VERSION} or newer`;
  return { about: ABOUT, status: 'refused', text: `${text}, which is too old`, remedy };
}

async function checkSchema(client: Client, schema: string): Promise<Finding> {
  const known = await readdir(join(findInstallation(), 'db', 'migrations'));
  const files = known.filter((name) => name.endsWith('.sql'));
  const { rows: found } = await client.query('select 1 from pg_namespace where nspname = $1', [schema]);
  if (found.length === 0) return missingSchema(client, schema);
  const { rows } = await client.query<{ name: string }>(`select name from "${schema}".migrations`);
  const applied = rows.map(({ name }) => name);
  const foreign = applied.filter((name) => !files.includes(name));
  if (foreign.length > 0) {
    const text = `the schema ${schema} was made by a newer version (${foreign.join(', ')})`;
    return { about: ABOUT, status: 'refused', text, remedy: 'install that version, or name another schema' };
  }
  const missing = files.length - applied.length;
  const state = missing === 0 ? 'is up to date' : `gets ${missing} changes at the next start`;
  return { about: ABOUT, status: 'ok', text: `the schema ${schema} ${state}` };
}

async function missingSchema(client: Client, schema: string): Promise<Finding> {
  const { rows } = await client.query<{ may: boolean }>(
    "select has_database_privilege(current_user, current_database(), 'create') as may",
  );
  if (rows[0]?.may === true)
    return { about: ABOUT, status: 'ok', text: `the schema ${schema} is made at the first start` };
  const text = `the schema ${schema} does not exist, and this user may not make it`;
  return { about: ABOUT, status: 'refused', text, remedy: 'grant CREATE on the database, or make the schema' };
}

const COMMITS = 10;
/** A step makes two or three commits: with slower ones, a step takes more time for its commits than for itself. */
const SLOW_COMMIT_MS = 10;

async function checkCommit(client: Client): Promise<Finding> {
  const begun = performance.now();
  for (let count = 0; count < COMMITS; count += 1) {
    // Writes to the log and nowhere else, so that its commit waits for the disk as every commit does.
    await client.query("select pg_logical_emit_message(true, 'doctor', '')");
  }
  const each = (performance.now() - begun) / COMMITS;
  const text = `a commit takes ${each.toFixed(1)} ms`;
  if (each <= SLOW_COMMIT_MS) return { about: ABOUT, status: 'ok', text };
  return { about: ABOUT, status: 'warning', text, remedy: 'a step makes up to three: use a nearer or faster database' };
}
