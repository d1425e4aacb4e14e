/** Executables fetched earlier. One lands under its final name only when it is whole, checked and runs. */
import { createHash } from 'node:crypto';
import { chmodSync, createReadStream, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { AppError } from '../../../contracts';
import { judgeExecutable } from './version';

const FOLDER = 'temporal';
const EXECUTABLE = 'temporal';

export async function findCached(directories: readonly string[], signal?: AbortSignal): Promise<string | undefined> {
  for (const directory of directories) {
    const path = join(directory, FOLDER, EXECUTABLE);
    if ((await judgeExecutable(path, signal)).usable) return path;
  }
  return undefined;
}

/** Writes an executable into the folder that it is given and returns its path. */
export type Fetch = (scratch: string) => Promise<string>;

export async function fetchIntoCache(
  directory: string,
  fetch: Fetch,
  options: { sha256?: string; signal?: AbortSignal },
): Promise<string> {
  const folder = join(directory, FOLDER);
  mkdirSync(folder, { recursive: true });
  const scratch = mkdtempSync(join(folder, 'fetch-'));
  try {
    const fetched = await fetch(scratch);
    if (options.sha256 !== undefined && (await sha256Of(fetched, options.signal)) !== options.sha256) {
      throw new AppError('unavailable', 'what came is not the file that was expected (SHA-256 differs)');
    }
    chmodSync(fetched, 0o755);
    const verdict = await judgeExecutable(fetched, options.signal);
    if (!verdict.usable) throw new AppError('unavailable', `what came ${verdict.reason}`);
    const path = join(folder, EXECUTABLE);
    renameSync(fetched, path);
    return path;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function sha256Of(path: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash, { signal });
  return hash.digest('hex');
}
