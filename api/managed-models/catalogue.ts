import { randomUUID } from 'node:crypto';
import type { CredentialCipher } from '../../config';
import { AppError } from '../../contracts';
import type { Config } from '../../contracts/schemas/config';
import type { ManagedModelRecord, ManagedModelRequest } from '../../contracts/schemas/managed-models';
import type { ManagedModelStore } from '../../db';
import { openRecords, sealRecord } from '../../models/managed';
import type { ProbeResult } from '../../models/managed/probe';
import { assertComplete, connectionOf, probedRecord, toRecord } from './change';
import { generateName } from './names';
import { importOldCatalogue } from './old-catalogue';

/** What administrators do with the models that they share. */
export interface ManagedModelCatalogue {
  /** Every record, keys included: for this process only. */
  records(): Promise<ManagedModelRecord[]>;
  /** Creates or changes one, and gives back what is stored. */
  save(request: ManagedModelRequest): Promise<ManagedModelRecord>;
  /** Tries what would be saved, and saves nothing. */
  test(request: ManagedModelRequest, signal: AbortSignal): Promise<ProbeResult>;
}

export interface ManagedModelCatalogueOptions {
  store: ManagedModelStore;
  cipher: CredentialCipher;
  home: string;
  /** The configuration as the file has it, without managed models. */
  fileConfig: () => Config;
  probe: (record: ManagedModelRecord, signal: AbortSignal) => Promise<ProbeResult>;
  /** Called after a change was stored. */
  changed: () => Promise<void>;
}

const CHANGED = 'Model changed or already exists; reload before saving';
const NAME_ATTEMPTS = 10;

export function createManagedModelCatalogue(options: ManagedModelCatalogueOptions): ManagedModelCatalogue {
  const { store, cipher, home, fileConfig, probe, changed } = options;
  let imported = false;

  async function records(): Promise<ManagedModelRecord[]> {
    imported ||= await importOldCatalogue({ home, store, cipher });
    return openRecords(await store.list(), cipher);
  }

  async function create(request: ManagedModelRequest, known: readonly ManagedModelRecord[]) {
    const wanted = request.config.name ?? null;
    const reserved = fileNames();
    for (let attempt = 0; attempt < NAME_ATTEMPTS; attempt += 1) {
      const name = wanted ?? generateName(request.config);
      if (wanted === null && (reserved.has(name) || known.some((record) => record.name === name))) continue;
      const record = toRecord(request.config, { name, revision: newRevision(), previous: null });
      if (await store.insert(await sealRecord(record, cipher))) return record;
      if (wanted !== null) break;
    }
    throw new AppError('conflict', CHANGED);
  }

  async function update(request: ManagedModelRequest, name: string, known: readonly ManagedModelRecord[]) {
    const expected = request.expected_revision ?? '';
    const previous = known.find((record) => record.name === name);
    if (previous === undefined) throw new AppError('not_found', 'Model no longer exists');
    if (previous.revision !== expected) throw new AppError('conflict', CHANGED);
    const record = toRecord(request.config, { name, revision: newRevision(), previous });
    const result = await store.replace(await sealRecord(record, cipher), expected);
    if (result === 'gone') throw new AppError('not_found', 'Model no longer exists');
    if (result === 'changed') throw new AppError('conflict', CHANGED);
    return record;
  }

  const fileNames = () => new Set(fileConfig().models.map(({ name }) => name));

  return {
    records,
    async save(request) {
      const name = assertComplete(request);
      if (name !== null && fileNames().has(name)) {
        throw new AppError('conflict', 'This model name is reserved by config.yaml');
      }
      // Before anything is written: a catalogue that cannot be read is not added to.
      const known = await records();
      const isUpdate = name !== null && (request.expected_revision ?? null) !== null;
      const record = isUpdate ? await update(request, name, known) : await create(request, known);
      await changed();
      return record;
    },
    async test(request, signal) {
      const name = assertComplete(request, { draft: true });
      const expected = request.expected_revision ?? null;
      if (expected === null) return probe(probedRecord(request.config, null), signal);
      const previous = (await records()).find((record) => record.name === name);
      const stale = previous === undefined || previous.revision !== expected;
      const keepsKey = (request.config.api_key ?? null) === null;
      const moved = previous !== undefined && keepsKey && connectionOf(request.config) !== connectionOf(previous);
      if (stale || (moved && previous.api_key)) throw new AppError('conflict', 'Model changed; reload before testing');
      return probe(probedRecord(request.config, previous), signal);
    },
  };
}

function newRevision(): string {
  return randomUUID().replaceAll('-', '');
}
