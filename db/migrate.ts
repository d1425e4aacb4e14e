import { readFile, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { existsSync } from 'node:fs';
import type { Database } from './database';

/** Any constant; all instances take the same lock, so that concurrent starts migrate once. */
const MIGRATION_LOCK = 7_319_402;

/** The migrations are read from the sources, also when the code runs from `dist/`. */
function migrationsFolder(): string {
  for (let folder = __dirname; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return join(folder, 'db', 'migrations');
    if (folder === dirname(folder)) throw new Error('db/migrations was not found beside package.json');
  }
}

/** Brings the schema up to date, forward only. Safe to run from many processes at once. Returns what it applied. */
export async function migrate(database: Database): Promise<string[]> {
  const folder = migrationsFolder();
  const files = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
  const schema = database.options.schema;
  return database.transaction(async (client) => {
    await client.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    await client.query(`create schema if not exists "${schema}"`);
    await client.query(
      'create table if not exists migrations (name text primary key, applied_at timestamptz default now())',
    );
    const { rows } = await client.query<{ name: string }>('select name from migrations');
    const applied = new Set(rows.map((row) => row.name));
    const fresh = files.filter((name) => !applied.has(name));
    for (const name of fresh) {
      await client.query(await readFile(join(folder, name), 'utf8'));
      await client.query('insert into migrations (name) values ($1)', [name]);
    }
    return fresh;
  });
}
