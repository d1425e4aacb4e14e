import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';

/** File systems stamp with a clock that lags by up to a tick. */
const CLOCK_TICK_MS = 10;
const MAX_SCANNED = 20_000;
const MAX_REPORTED = 1_000;

interface ScanOptions {
  /** Host directory of the thread's outputs. */
  outputs: string;
  /** Milliseconds since the epoch; files changed at or after it count. */
  since: number;
  /** Names directly below outputs that are ours. */
  reserved: readonly string[];
}

/** Virtual paths of regular files under outputs that were made or changed since a moment; links are not followed. */
export async function producedFiles({ outputs, since, reserved }: ScanOptions): Promise<string[]> {
  const found: string[] = [];
  const pending = [''];
  let scanned = 0;
  while (pending.length > 0 && scanned < MAX_SCANNED && found.length < MAX_REPORTED) {
    const folder = pending.pop() ?? '';
    const entries = await opendir(join(outputs, folder)).catch(() => null);
    if (entries === null) continue;
    for await (const entry of entries) {
      scanned += 1;
      if (scanned > MAX_SCANNED || found.length >= MAX_REPORTED) break;
      if (folder === '' && reserved.includes(entry.name)) continue;
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) pending.push(path);
      else if (entry.isFile() && (await changedSince(join(outputs, path), since))) {
        found.push(`/mnt/user-data/outputs/${path}`);
      }
    }
  }
  return found.sort();
}

/** The change time cannot be set by a program, unlike the modification time. */
async function changedSince(path: string, since: number): Promise<boolean> {
  const found = await lstat(path).catch(() => null);
  return found !== null && found.ctimeMs >= since - CLOCK_TICK_MS;
}
