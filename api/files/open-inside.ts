import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { lstat, open, realpath } from 'node:fs/promises';
import { sep } from 'node:path';
import type { BigIntStats } from 'node:fs';
import { AppError } from '../../contracts';
import { errorCode } from './file-errors';

export interface OpenFile {
  handle: FileHandle;
  stats: BigIntStats;
}

export function isInside(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}

/**
 * Opens a regular file for reading that really lies below `directory`. Links inside are followed, links that lead out
 * are refused, also those swapped in between the check and the opening: what counts is the file that was opened.
 * Missing files throw as the file system says; whatever is no regular file gives `bad_request`.
 */
export async function openInside(directory: string, path: string, shown: string): Promise<OpenFile> {
  const root = await realpath(directory);
  const real = await realpath(path);
  if (!isInside(real, root)) throw traversal();
  const handle = await openUnfollowed(real, shown);
  try {
    const stats = await handle.stat({ bigint: true });
    if (!stats.isFile()) throw notAFile(shown);
    const now = await realpath(path);
    const there = await lstat(now, { bigint: true });
    if (!isInside(now, root) || there.ino !== stats.ino || there.dev !== stats.dev) throw traversal();
    return { handle, stats };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function openUnfollowed(real: string, shown: string): Promise<FileHandle> {
  try {
    // Not blocking, because opening a named pipe would wait for a writer.
    return await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (errorCode(error) === 'ELOOP') throw traversal();
    // A socket, or a device without a driver.
    if (errorCode(error) === 'ENXIO' || errorCode(error) === 'ENODEV') throw notAFile(shown);
    throw error;
  }
}

export function traversal(): AppError {
  return new AppError('forbidden', 'Access denied: path traversal detected');
}

export function notAFile(shown: string): AppError {
  return new AppError('bad_request', `Path is not a file: ${shown}`);
}
