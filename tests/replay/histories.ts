/** The recorded histories: one file each, packed where it is long. */
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { historyFromJSON, historyToJSON } from '@temporalio/common/lib/proto-utils';
import { findInstallation } from '../../workers/stack/project-root';

export type History = ReturnType<typeof historyFromJSON>;

const FOLDER = join(findInstallation(), 'tests', 'replay', 'histories');
const SUFFIX = /\.json(\.gz)?$/;
/** Longer files are packed: nobody reads them. */
const READABLE_LENGTH = 100_000;

/** `<pid>@<host>`, as the SDK names workers and their queues. */
const IDENTITY = /\b\d+@[\w.-]+?(?=[-"][0-9a-f"\n,])/g;

export function storedNames(folder = '.'): string[] {
  return readdirSync(join(FOLDER, folder))
    .filter((file) => SUFFIX.test(file))
    .map((file) => join(folder, file.replace(SUFFIX, '')))
    .sort();
}

/** Histories from before a change of the workflows that runs under way must survive. */
export const OLDER = 'model-calls-as-activities';

/** @param name Of a history, or `folder/name` of an older one. */
export function historyText(name: string): string {
  const file = readdirSync(join(FOLDER, dirname(name)))
    .map((candidate) => join(dirname(name), candidate))
    .find((candidate) => candidate.replace(SUFFIX, '') === name);
  if (file === undefined) throw new Error(`There is no history ${name}.`);
  const bytes = readFileSync(join(FOLDER, file));
  return (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
}

export function loadHistory(name: string): History {
  return historyFromJSON(JSON.parse(historyText(name)));
}

/** Stores a history without the name of the machine that recorded it; returns the length of the file. */
export function storeHistory(name: string, history: History): number {
  for (const file of [`${name}.json`, `${name}.json.gz`]) rmSync(join(FOLDER, file), { force: true });
  const json = JSON.stringify(JSON.parse(historyToJSON(history)), null, 1).replace(IDENTITY, 'worker@example');
  const packed = json.length > READABLE_LENGTH;
  const bytes = packed ? gzipSync(json, { level: 9 }) : Buffer.from(`${json}\n`);
  writeFileSync(join(FOLDER, packed ? `${name}.json.gz` : `${name}.json`), bytes);
  return bytes.length;
}
