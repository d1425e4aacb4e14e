import type { Database } from './database';
import { translateErrors } from './errors';

/** Every change of the catalogue notifies this channel in its transaction. */
export const MANAGED_MODELS_CHANNEL = 'managed_models';

export interface ManagedModelRow {
  name: string;
  revision: string;
  /** The whole record, encrypted by its owner: nothing here can read it. */
  sealed: string;
}

export interface ManagedModelStore {
  /** In the order in which they were made. */
  list(): Promise<ManagedModelRow[]>;
  /** False where the name is taken. */
  insert(row: ManagedModelRow): Promise<boolean>;
  /** Writes only over the revision that is expected. */
  replace(row: ManagedModelRow, expectedRevision: string): Promise<'replaced' | 'changed' | 'gone'>;
  wasImported(source: string): Promise<boolean>;
  /** Takes rows over from somewhere else, once; a name that is there already keeps its row. */
  importOnce(source: string, rows: readonly ManagedModelRow[]): Promise<void>;
}

const INSERT = 'insert into managed_models (name, revision, sealed) values ($1, $2, $3) on conflict (name) do nothing';

export function createManagedModelStore(database: Database): ManagedModelStore {
  const { pool } = database;
  return {
    list: () =>
      translateErrors(async () => {
        const text = 'select name, revision, sealed from managed_models order by position';
        return (await pool.query<ManagedModelRow>(text)).rows;
      }),
    insert: ({ name, revision, sealed }) =>
      translateErrors(async () => (await pool.query(INSERT, [name, revision, sealed])).rowCount === 1),
    replace: ({ name, revision, sealed }, expectedRevision) =>
      translateErrors(async () => {
        const { rowCount } = await pool.query(
          `update managed_models set revision = $2, sealed = $3, updated_at = now()
            where name = $1 and revision = $4`,
          [name, revision, sealed, expectedRevision],
        );
        if (rowCount === 1) return 'replaced';
        const found = await pool.query('select 1 from managed_models where name = $1', [name]);
        return found.rowCount === 0 ? 'gone' : 'changed';
      }),
    wasImported: (source) =>
      translateErrors(async () => {
        const { rowCount } = await pool.query('select 1 from managed_model_imports where source = $1', [source]);
        return rowCount === 1;
      }),
    importOnce: (source, rows) =>
      translateErrors(() =>
        database.transaction(async (client) => {
          const mark = 'insert into managed_model_imports (source) values ($1) on conflict do nothing';
          // The second of two processes waits here for the first, and then finds it done.
          if ((await client.query(mark, [source])).rowCount === 0) return;
          for (const { name, revision, sealed } of rows) await client.query(INSERT, [name, revision, sealed]);
        }),
      ),
  };
}
