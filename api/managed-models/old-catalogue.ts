import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { fernetKey, openFernet } from '../../config';
import type { CredentialCipher } from '../../config';
import { managedModelRecordSchema } from '../../contracts/schemas/managed-models';
import type { ManagedModelRecord } from '../../contracts/schemas/managed-models';
import type { ManagedModelStore } from '../../db';
import { parsed, sealRecord, unreadable } from '../../models/managed';

/** Where DeerFlow keeps its catalogue, below the home; also the name under which the import is noted. */
const FOLDER = 'managed-models';
const catalogueSchema = z.array(managedModelRecordSchema);

export interface OldCatalogueOptions {
  home: string;
  store: ManagedModelStore;
  cipher: CredentialCipher;
}

/**
 * Takes DeerFlow's own catalogue over, once, with its names, revisions and keys. The two files are only read. Throws
 * `unavailable` where they cannot be: they are then to be restored from a backup, and nothing is made in their place.
 *
 * True once there is nothing more to look for.
 */
export async function importOldCatalogue({ home, store, cipher }: OldCatalogueOptions): Promise<boolean> {
  const catalogue = await read(join(home, FOLDER, 'catalog.enc'));
  if (catalogue === null) return false;
  if (await store.wasImported(FOLDER)) return true;
  const records = decrypt(catalogue, await read(join(home, FOLDER, 'key')));
  const rows = await Promise.all(records.map((record) => sealRecord(record, cipher)));
  await store.importOnce(FOLDER, rows);
  return true;
}

function decrypt(catalogue: string, keyText: string | null): ManagedModelRecord[] {
  const key = keyText === null ? null : fernetKey(keyText);
  const text = key === null ? null : openFernet(key, catalogue);
  const { success, data } = catalogueSchema.safeParse(text === null ? null : parsed(text));
  if (!success) throw unreadable();
  return data;
}

/** Null where there is no such file; one that cannot be read is as good as damaged. */
async function read(path: string): Promise<string | null> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw unreadable();
  }
}
