/**
 * Opens and replaces files so that links cannot lead out of the agent's directories, not even links that are swapped
 * in between the check and the use: what is checked is the file that was opened, and work inside a directory goes
 * through the open directory.
 */
import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, lstat, mkdir, open, readlink, realpath, rename, rm, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { AppError } from '../../contracts';
import { READ_LIMIT_BYTES } from '../sandbox';
import { traversal, type ResolvedPath } from '../virtual-paths';
import { errorCode } from '../file-errors';

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
const DESCRIPTORS = '/proc/self/fd';

export interface OpenDirectory {
  handle: FileHandle;
  /** A path that names this very directory for as long as it is open, whatever happens to its name. */
  path: string;
}

export interface WriteRequest {
  /** The new content, made from the current one (null where there is none). */
  content(current: Buffer | null): Buffer;
  needsCurrent: boolean;
  expectedSha256?: string | null;
  signal?: AbortSignal;
}

export function sha256(content: Buffer | string): string {
  return createHash('sha256').update(content).digest('hex');
}

export function isInside(path: string, roots: readonly string[]): boolean {
  return roots.some((root) => path === root || path.startsWith(root.endsWith(sep) ? root : root + sep));
}

export interface OpenFile {
  handle: FileHandle;
  size: number;
}

/** The real host path of something that exists and lies where it may. */
export async function resolveReal(target: ResolvedPath): Promise<string> {
  const real = await realpath(hostOf(target));
  if (!isInside(real, await scopeOf(target))) throw traversal(target.virtual);
  return real;
}

/** Opens a regular file for reading. Throws `ENOENT` and the like as they come. */
export async function openFile(target: ResolvedPath): Promise<OpenFile> {
  return openReal(await resolveReal(target), target);
}

/** The same for a file that a walk has just found to be no link: its name needs no resolving. */
export async function openListedFile(target: ResolvedPath): Promise<OpenFile> {
  return openReal(hostOf(target), target);
}

async function openReal(real: string, target: ResolvedPath): Promise<OpenFile> {
  // Not blocking, because opening a named pipe would wait for a writer.
  const handle = await open(real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    await verify(handle, real, target);
    const found = await handle.stat();
    if (found.isDirectory()) throw new AppError('bad_request', `Path is a directory, not a file: ${target.virtual}`);
    if (!found.isFile()) throw new AppError('bad_request', `Not a regular file: ${target.virtual}`);
    return { handle, size: found.size };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

export async function readWhole(target: ResolvedPath, signal?: AbortSignal): Promise<Buffer> {
  const { handle, size } = await openFile(target);
  try {
    if (size > READ_LIMIT_BYTES) {
      throw new AppError('too_large', `File is too large to read (${size} bytes, limit ${READ_LIMIT_BYTES})`);
    }
    return await handle.readFile({ signal });
  } finally {
    await handle.close();
  }
}

/** Opens a directory and checks that the opened one lies where it should. */
export async function openDirectory(target: ResolvedPath): Promise<OpenDirectory> {
  return openDirectoryAt(await realpath(hostOf(target)), target);
}

/** Replaces a file at once or not at all; parent directories are made. */
export async function replaceFile(target: ResolvedPath, request: WriteRequest): Promise<void> {
  const file = await linkTarget(hostOf(target), target.virtual);
  const directory = await openParents(dirname(file), target);
  const name = basename(file);
  const temporary = join(directory.path, `.deerflow-${randomBytes(8).toString('hex')}.tmp`);
  try {
    const current = await currentFile(join(directory.path, name), target.virtual, request.needsCurrent);
    const mode = current?.mode;
    const handle = await open(temporary, 'wx', mode ?? 0o666);
    try {
      await handle.writeFile(request.content(current?.content ?? null));
      if (mode !== undefined) await handle.chmod(mode);
      await handle.sync();
    } finally {
      await handle.close();
    }
    request.signal?.throwIfAborted();
    if (request.expectedSha256 !== undefined) {
      const found = await currentFile(join(directory.path, name), target.virtual, true);
      const hash = found?.content ? sha256(found.content) : null;
      if (hash !== request.expectedSha256) {
        throw new AppError('precondition_failed', `The file changed since it was read: ${target.virtual}`);
      }
    }
    await rename(temporary, join(directory.path, name));
  } finally {
    await rm(temporary, { force: true });
    await directory.handle.close();
  }
}

function hostOf(target: ResolvedPath): string {
  if (target.host === null) throw new AppError('not_found', `File not found: ${target.virtual}`);
  return target.host;
}

async function scopeOf(target: ResolvedPath): Promise<string[]> {
  return target.mount ? target.mount.scope() : [];
}

/** The file that a write replaces: the end of a chain of links, so that the link itself stays. */
async function linkTarget(host: string, virtual: string): Promise<string> {
  const found = await lstat(host).catch(absent);
  if (!found?.isSymbolicLink()) return host;
  const real = await realpath(host).catch(absent);
  if (real === null) throw new AppError('forbidden', `Access denied: broken symbolic link: ${virtual}`);
  return real;
}

async function currentFile(
  path: string,
  virtual: string,
  withContent: boolean,
): Promise<{ content: Buffer | null; mode: number } | null> {
  const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(absent);
  if (!handle) return null;
  try {
    const found = await handle.stat();
    if (found.isDirectory()) throw new AppError('bad_request', `Path is a directory, not a file: ${virtual}`);
    if (!found.isFile()) throw new AppError('bad_request', `Not a regular file: ${virtual}`);
    if (withContent && found.size > READ_LIMIT_BYTES) {
      throw new AppError('too_large', `File is too large to change (${found.size} bytes, limit ${READ_LIMIT_BYTES})`);
    }
    return { content: withContent ? await handle.readFile() : null, mode: found.mode & 0o7777 };
  } finally {
    await handle.close();
  }
}

/** Opens a directory, making what is missing of it one step at a time inside the step before. */
async function openParents(path: string, target: ResolvedPath): Promise<OpenDirectory> {
  const missing: string[] = [];
  let existing = path;
  let real = await realpath(existing).catch(absent);
  while (real === null) {
    // A broken link is something that exists: nothing may be made through it.
    if (await lstat(existing).catch(absent)) throw traversal(target.virtual);
    missing.unshift(basename(existing));
    existing = dirname(existing);
    real = await realpath(existing).catch(absent);
  }
  let directory = await openDirectoryAt(real, target);
  for (const name of missing) {
    const child = join(directory.path, name);
    try {
      await makeOpenDirectory(child);
      const handle = await open(child, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      const opened = { handle, path: await pathOf(handle, child) };
      await directory.handle.close();
      directory = opened;
    } catch (error) {
      await directory.handle.close();
      throw error;
    }
  }
  return directory;
}

async function makeOpenDirectory(path: string): Promise<void> {
  try {
    await mkdir(path);
    await chmod(path, 0o777);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

async function openDirectoryAt(real: string, target: ResolvedPath): Promise<OpenDirectory> {
  if (!isInside(real, await scopeOf(target))) throw traversal(target.virtual);
  const handle = await open(real, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    await verify(handle, real, target);
    return { handle, path: await pathOf(handle, real) };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Where the kernel says what a descriptor refers to, that is asked; elsewhere the path is looked at once more. */
async function verify(handle: FileHandle, real: string, target: ResolvedPath): Promise<void> {
  const opened = await readlink(`${DESCRIPTORS}/${handle.fd}`).catch(absent);
  const now = opened ?? (await realpath(real));
  if (!isInside(now, await scopeOf(target))) throw traversal(target.virtual);
  if (opened !== null) return;
  const [found, expected] = await Promise.all([handle.stat(), lstat(real)]);
  if (found.dev !== expected.dev || found.ino !== expected.ino) throw traversal(target.virtual);
}

async function pathOf(handle: FileHandle, fallback: string): Promise<string> {
  const path = `${DESCRIPTORS}/${handle.fd}`;
  return (await lstat(path).catch(absent)) ? path : fallback;
}

function absent(error: unknown): null {
  const code = errorCode(error);
  if (code === 'ENOENT' || code === 'ENOTDIR') return null;
  throw error;
}
