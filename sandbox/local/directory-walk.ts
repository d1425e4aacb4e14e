/**
 * Walks the virtual tree: host directories with the mounts that lie below them. Memory is bounded by the depth, not by
 * the number of files, and links are never followed.
 */
import { opendir, realpath, stat } from 'node:fs/promises';
import type { Dir, Dirent } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../contracts';
import { childMountNames, resolveVirtualPath, type PathTable, type ResolvedPath } from '../virtual-paths';
import { errorCode, fileError } from '../file-errors';
import { isIgnoredName } from './ignored-names';
import { isInside, openDirectory } from './safe-files';

export interface Entry {
  path: ResolvedPath;
  /** Directories are descended into; links to directories count as files that are no regular ones. */
  kind: 'file' | 'directory' | 'link' | 'link-to-directory';
  /** Below the start of the walk. */
  relative: string;
}

export interface WalkOptions {
  signal?: AbortSignal;
}

/** Entries are handed out in sorted portions of this size. */
const PORTION = 1_000;
const DEEPEST = 200;
/** Directories that vanish or may not be read while a walk is under way are passed over, except the one asked for. */
const PASSED_OVER = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ELOOP']);

/** The entries of one directory, in portions. Throws where the directory cannot be read. */
export async function* readDirectory(
  table: PathTable,
  directory: ResolvedPath,
  prefix: string,
  options: WalkOptions,
): AsyncGenerator<Entry[]> {
  const mounted = childMountNames(table, directory.virtual);
  const below = (name: string) => (prefix === '' ? name : `${prefix}/${name}`);
  const children: Entry[] = [];
  for (const name of mounted) {
    const path = resolveVirtualPath(table, `${directory.virtual}/${name}`, 'read');
    if (!path.mount || (await isDirectory(path))) children.push({ path, kind: 'directory', relative: below(name) });
  }
  if (children.length > 0) yield children;
  if (directory.host === null) {
    if (mounted.length > 0 || table.roots.includes(directory.virtual)) return;
    throw new AppError('not_found', `Directory not found: ${directory.virtual}`);
  }

  const roots = await rootsOf(directory);
  const taken = new Set(mounted);
  const opened = await openForListing(directory);
  try {
    for (let done = false; !done;) {
      options.signal?.throwIfAborted();
      const portion: Dirent[] = [];
      while (portion.length < PORTION) {
        const entry = await opened.read();
        done = entry === null;
        if (entry === null) break;
        if (!isIgnoredName(entry.name) && !taken.has(entry.name)) portion.push(entry);
      }
      portion.sort((a, b) => (a.name < b.name ? -1 : 1));
      const entries: Entry[] = [];
      for (const entry of portion) {
        const path = childPath(directory, entry.name);
        const kind = entry.isSymbolicLink() ? await linkKind(path, roots) : entry.isDirectory() ? 'directory' : 'file';
        if (kind !== null) entries.push({ path, kind, relative: below(entry.name) });
      }
      if (entries.length > 0) yield entries;
    }
  } finally {
    await opened.close();
  }
}

/** All entries below a directory, depth first, in portions. */
export async function* walk(table: PathTable, start: ResolvedPath, options: WalkOptions): AsyncGenerator<Entry[]> {
  const levels = [{ portions: readDirectory(table, start, '', options), waiting: [] as Entry[] }];
  try {
    for (let level = levels.at(-1); level; level = levels.at(-1)) {
      options.signal?.throwIfAborted();
      const next = level.waiting.shift();
      if (next) {
        if (levels.length < DEEPEST) {
          levels.push({ portions: readDirectory(table, next.path, next.relative, options), waiting: [] });
        }
        continue;
      }
      const portion = await nextPortion(level.portions, levels.length > 1);
      if (portion === null) {
        levels.pop();
        continue;
      }
      level.waiting = portion.filter((entry) => entry.kind === 'directory');
      yield portion;
    }
  } finally {
    await Promise.all(levels.map((level) => level.portions.return(undefined)));
  }
}

/** The next portion, or null at the end or where a directory below the start is out of reach. */
export async function nextPortion(portions: AsyncGenerator<Entry[]>, isBelowStart: boolean): Promise<Entry[] | null> {
  try {
    const next = await portions.next();
    return next.done ? null : next.value;
  } catch (error) {
    const cause = error instanceof AppError ? error.options.cause : error;
    const isRefusal = error instanceof AppError && error.code === 'forbidden';
    if (isBelowStart && (isRefusal || PASSED_OVER.has(errorCode(cause) ?? ''))) return null;
    throw error;
  }
}

async function openForListing(directory: ResolvedPath): Promise<Dir> {
  const noun = (error: unknown) => {
    const shown = fileError(error, directory.virtual);
    if (!(shown instanceof AppError)) return shown;
    const code = errorCode(error);
    if (code === 'ENOENT')
      return new AppError('not_found', `Directory not found: ${directory.virtual}`, { cause: error });
    if (code === 'ENOTDIR')
      return new AppError('bad_request', `Not a directory: ${directory.virtual}`, { cause: error });
    return shown;
  };
  try {
    const { handle, path } = await openDirectory(directory);
    try {
      return await opendir(path, { bufferSize: 256 });
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw noun(error);
  }
}

function childPath(directory: ResolvedPath, name: string): ResolvedPath {
  return {
    virtual: `${directory.virtual}/${name}`,
    mount: directory.mount,
    host: directory.host === null ? null : join(directory.host, name),
  };
}

/** What a link is shown as; links that lead out, or nowhere, are not shown. */
async function linkKind(path: ResolvedPath, roots: string[]): Promise<Entry['kind'] | null> {
  if (path.host === null) return null;
  try {
    const real = await realpath(path.host);
    if (!isInside(real, roots)) return null;
    return (await stat(real)).isDirectory() ? 'link-to-directory' : 'link';
  } catch (error) {
    if (PASSED_OVER.has(errorCode(error) ?? '')) return null;
    throw error;
  }
}

async function isDirectory(path: ResolvedPath): Promise<boolean> {
  if (path.host === null) return false;
  return stat(path.host).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

async function rootsOf(path: ResolvedPath): Promise<string[]> {
  return path.mount ? await path.mount.scope() : [];
}
