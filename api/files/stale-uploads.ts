import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isStagingName } from './upload-names';

/** Long enough that no upload of another process is still being received. */
const STALE_AFTER_MS = 3_600_000;

/**
 * Removes what uploads left behind whose process died. Called once at start. Parts of the last hour stay: another
 * process of this installation may be receiving them. Gives back how many were removed.
 */
export async function removeStaleUploads(
  home: string,
  { signal, olderThanMs = STALE_AFTER_MS }: { signal: AbortSignal; olderThanMs?: number },
): Promise<number> {
  const before = Date.now() - olderThanMs;
  let removed = 0;
  for (const owner of await directoriesIn(join(home, 'users'))) {
    for (const thread of await directoriesIn(join(owner, 'threads'))) {
      signal.throwIfAborted();
      removed += await removeFrom(join(thread, 'user-data', 'uploads'), before);
    }
  }
  return removed;
}

async function directoriesIn(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map((entry) => join(path, entry.name));
}

async function removeFrom(uploads: string, before: number): Promise<number> {
  if (!(await lstat(uploads).catch(() => null))?.isDirectory()) return 0;
  let removed = 0;
  for (const name of (await readdir(uploads).catch(() => [])).filter(isStagingName)) {
    const found = await lstat(join(uploads, name)).catch(() => null);
    if (found === null || found.mtimeMs > before) continue;
    await rm(join(uploads, name), { recursive: true, force: true });
    removed += 1;
  }
  return removed;
}
