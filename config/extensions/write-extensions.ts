import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, readdir, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { AppError, isAppError } from '../../contracts';
import type { EnvironmentVariables } from '../environment-variables';
import type { ExtensionsDocument } from './parse-extensions';
import { parseExtensionsText, resolveExtensions } from './parse-extensions';

export interface ExtensionsWrite {
  path: string;
  /** Whether there was no file so far. One that was there and is gone is not made anew with this change alone. */
  isNew: boolean;
  env: EnvironmentVariables;
  /** From what the file says to what it shall say. References to variables stay references. */
  change: (document: ExtensionsDocument) => ExtensionsDocument;
  signal: AbortSignal;
}

const LOCK_POLL_MS = 20;
const LOCK_PATIENCE_MS = 5_000;
/** No write takes this long: whoever has the lock is gone. */
const LOCK_STALE_MS = 10_000;
/** The file may hold keys. */
const NEW_FILE_MODE = 0o600;

/**
 * Changes the file so that a reader sees the old revision or the new one, never a part, and so that of two writers at
 * once, also in different processes, neither loses what the other wrote. A change that is not valid writes nothing.
 * Throws `bad_request` for such a change, `unavailable` where the file as it is cannot be changed, and what `change`
 * throws.
 */
export async function writeExtensions({ path, isNew, env, change, signal }: ExtensionsWrite): Promise<void> {
  // A link stays a link; what it leads to is replaced.
  const target = await realpath(path).catch(() => path);
  try {
    await mkdir(dirname(target), { recursive: true });
    const lock = await takeLock(`${target}.lock`, signal);
    try {
      const before = await readFile(target).catch(notThere);
      if (before === null && !isNew) throw unusable('it is gone');
      const after = changed(before, change, { file: basename(target), env });
      const mode = before === null ? NEW_FILE_MODE : (await stat(target)).mode & 0o777;
      // Whoever was stopped for long enough has lost the lock, and would write over what came since.
      if (!(await lock.isHeld())) throw busy();
      await replace(target, `${JSON.stringify(after, null, 2)}\n`, mode);
    } finally {
      await lock.release();
    }
  } catch (error) {
    throw UNWRITABLE.has((error as NodeJS.ErrnoException).code ?? '') ? unwritable(error) : error;
  }
}

function changed(
  before: Uint8Array | null,
  change: ExtensionsWrite['change'],
  { file, env }: { file: string; env: EnvironmentVariables },
): ExtensionsDocument {
  const faultOf = (document: ExtensionsDocument) => configFault(() => resolveExtensions(document, env, { file }));
  let document: ExtensionsDocument = {};
  const broken = before === null ? null : configFault(() => (document = parseExtensionsText(before, file)));
  if (broken !== null) throw unusable(broken);
  const after = change(document);
  const fault = faultOf(after);
  if (fault === null) return after;
  const earlier = faultOf(document);
  throw earlier === null ? new AppError('bad_request', fault) : unusable(earlier);
}

/** What is wrong; null where nothing is. */
function configFault(attempt: () => unknown): string | null {
  try {
    attempt();
    return null;
  } catch (error) {
    if (isAppError(error, 'configuration')) return error.message;
    throw error;
  }
}

function unusable(fault: string): AppError {
  return new AppError(
    'unavailable',
    `The extensions file cannot be changed as it is: ${fault}. Mend it, then try again.`,
  );
}

/** A file that is mounted into a container by itself cannot be replaced. */
const UNWRITABLE = new Set(['EACCES', 'EPERM', 'EROFS', 'EBUSY']);

function unwritable(cause: unknown): AppError {
  const expected = 'its folder has to be writable for this process, and the file not mounted by itself';
  return new AppError('unavailable', `The extensions file cannot be written: ${expected}.`, { cause });
}

function notThere(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

/** Under the lock, so that a part of another writer is one that died with it. */
async function replace(target: string, text: string, mode: number): Promise<void> {
  const [folder, start] = [dirname(target), `.${basename(target)}.`];
  const left = (await readdir(folder)).filter((name) => name.startsWith(start) && name.endsWith('.part'));
  await Promise.all(left.map((name) => rm(join(folder, name), { force: true })));
  const part = join(folder, `${start}${randomUUID()}.part`);
  try {
    const handle = await open(part, 'wx', mode);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(part, target);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

interface Lock {
  isHeld(): Promise<boolean>;
  /** Leaves the lock of another alone. */
  release(): Promise<void>;
}

async function takeLock(path: string, signal: AbortSignal): Promise<Lock> {
  const owner = randomUUID();
  const isHeld = async () => (await readFile(path, 'utf8').catch(() => null)) === owner;
  const deadline = Date.now() + LOCK_PATIENCE_MS + LOCK_STALE_MS;
  for (;;) {
    signal.throwIfAborted();
    try {
      await writeFile(path, owner, { flag: 'wx', mode: NEW_FILE_MODE });
      return {
        isHeld,
        async release() {
          if (await isHeld()) await rm(path, { force: true });
        },
      };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    if (Date.now() > deadline) throw busy();
    await removeStale(path);
    await delay(LOCK_POLL_MS, undefined, { signal });
  }
}

/** Under a lock of its own: by the time that one of many has found a stale lock, there may be a new one at its place. */
async function removeStale(path: string): Promise<void> {
  if (!(await isStale(path))) return;
  const guard = `${path}.stale`;
  try {
    await (await open(guard, 'wx', NEW_FILE_MODE)).close();
  } catch {
    if (await isStale(guard)) await rm(guard, { force: true });
    return;
  }
  try {
    if (await isStale(path)) await rm(path, { force: true });
  } finally {
    await rm(guard, { force: true });
  }
}

async function isStale(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  return found !== null && Date.now() - found.mtimeMs >= LOCK_STALE_MS;
}

function busy(): AppError {
  return new AppError('unavailable', 'The extensions file is being changed by others.');
}
