/** The runtime home on disk, as far as the stack is concerned. */
import { accessSync, constants, mkdirSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../contracts';

/** A new database with its log takes a fifth of this; the rest is for the first runs. */
const MINIMUM_FREE_BYTES = 256 * 1024 * 1024;

export interface HomePaths {
  records: string;
  postgres: string;
  temporalDatabase: string;
  log(name: string): string;
}

export function homePaths(home: string): HomePaths {
  return {
    records: join(home, 'stack', 'processes'),
    postgres: join(home, 'postgres'),
    temporalDatabase: join(home, 'temporal', 'temporal.db'),
    log: (name) => join(home, 'logs', `${name}.log`),
  };
}

/** Makes the home where it is missing. Throws where nothing could be stored in it. */
export function prepareHome(home: string, minimumFreeBytes = MINIMUM_FREE_BYTES): void {
  try {
    mkdirSync(home, { recursive: true });
    accessSync(home, constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw new AppError(
      'configuration',
      `The home ${home} cannot be used: ${reasonOf(cause)}. Choose another with --home or DEER_FLOW_HOME.`,
      { cause },
    );
  }
  const { bavail, bsize } = statfsSync(home);
  const free = bavail * bsize;
  if (free < minimumFreeBytes) {
    throw new AppError(
      'unavailable',
      `The disk of the home ${home} has ${megabytes(free)} MB left; ${megabytes(minimumFreeBytes)} MB are needed. ` +
        'Make room, or choose another home with --home or DEER_FLOW_HOME.',
    );
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'it may not be written',
  EPERM: 'it may not be written',
  EROFS: 'its file system is read-only',
  ENOSPC: 'its disk is full',
  EDQUOT: 'its disk quota is used up',
  ENOTDIR: 'a part of the path is not a folder',
  EEXIST: 'it is not a folder',
};

/** What a failure of the file system means to the person who started the stack. */
export function reasonOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  return REASONS[code] ?? (code || 'unknown reason');
}

function megabytes(bytes: number): number {
  return Math.floor(bytes / 1024 / 1024);
}
