import type { CredentialCipher } from '../../config';
import { AppError } from '../../contracts';
import { managedModelRecordSchema } from '../../contracts/schemas/managed-models';
import type { ManagedModelRecord } from '../../contracts/schemas/managed-models';

/** A record as it is stored. */
export interface SealedRecord {
  name: string;
  revision: string;
  sealed: string;
}

export async function sealRecord(record: ManagedModelRecord, cipher: CredentialCipher): Promise<SealedRecord> {
  const { name, revision } = record;
  return { name, revision, sealed: await cipher.seal(JSON.stringify(record)) };
}

/**
 * Throws `unavailable` where one cannot be read: a catalogue with a part missing would be taken for the whole one, and
 * written over.
 */
export async function openRecords(
  rows: readonly SealedRecord[],
  cipher: CredentialCipher,
): Promise<ManagedModelRecord[]> {
  return Promise.all(rows.map((row) => openRecord(row, cipher)));
}

async function openRecord({ name, revision, sealed }: SealedRecord, cipher: CredentialCipher) {
  const text = await cipher.open(sealed);
  const { success, data } = managedModelRecordSchema.safeParse(text === null ? null : parsed(text));
  // What is sealed must belong to its row: a row that was put under another name is none of ours.
  if (!success || data.name !== name || data.revision !== revision) throw unreadable();
  return data;
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Without a cause: what failed to parse holds keys. */
export function unreadable(): AppError {
  const text = 'Managed model storage is unavailable; check the catalog and encryption key';
  return new AppError('unavailable', text);
}
