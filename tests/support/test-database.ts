import { randomBytes } from 'node:crypto';
import type { Database, Stores } from '../../db';
import { createDatabase, createStores, migrate } from '../../db';
import { testServices } from './services';

export interface TestDatabase {
  database: Database;
  stores: Stores;
  schema: string;
  /** Drops the schema; keeps it for a look when the test file failed. */
  close(options?: { keep?: boolean }): Promise<void>;
}

/** A schema of its own for each test file, on the server that the run shares. */
export async function openTestDatabase(): Promise<TestDatabase> {
  const schema = `test_${randomBytes(6).toString('hex')}`;
  const database = createDatabase({
    url: testServices().databaseUrl,
    schema,
    maxConnections: 10,
    applicationName: 'deerflow test',
  });
  await migrate(database);
  return {
    database,
    schema,
    stores: createStores(database, randomBytes(32)),
    async close({ keep = false } = {}) {
      if (!keep) await database.pool.query(`drop schema "${schema}" cascade`);
      await database.close();
    },
  };
}
