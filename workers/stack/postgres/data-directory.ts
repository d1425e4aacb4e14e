/** The data of the embedded server: created once, in a way that a half-made one is never taken for whole. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../../contracts';
import { runToEnd } from '../executables';
import { commandOf, endProcess, identifyProcess } from '../process-identity';
import type { RunAs } from './run-as';

export const SUPERUSER = 'deerflow';

export interface DataDirectory {
  path: string;
  password: string;
}

export interface DataDirectoryOptions {
  /** The folder for everything of the server; `data/` and `password` lie in it. */
  directory: string;
  initdb: string;
  runAs: RunAs;
  signal?: AbortSignal;
}

export async function prepareDataDirectory(options: DataDirectoryOptions): Promise<DataDirectory> {
  const path = join(options.directory, 'data');
  const password = readOrMakePassword(join(options.directory, 'password'), existsSync(path));
  if (existsSync(join(path, 'PG_VERSION'))) {
    await clearLeftoverLock(path);
    return { path, password };
  }
  await initialise(path, password, options);
  return { path, password };
}

/** `initdb` works in a folder beside the real one, which gets its name when it is done. */
async function initialise(path: string, password: string, options: DataDirectoryOptions): Promise<void> {
  const { runAs, initdb, signal } = options;
  const draft = `${path}.draft`;
  const passwordFile = `${path}.password`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { mode: 0o700 });
  writeFileSync(passwordFile, password, { mode: 0o600 });
  try {
    runAs.giveAway(draft);
    runAs.giveAway(passwordFile);
    // The built-in locale sorts and folds case the same on every machine, whatever its operating system offers.
    const locale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
    const access = ['--auth=scram-sha-256', `--username=${SUPERUSER}`, `--pwfile=${passwordFile}`];
    const args = ['--pgdata', draft, '--encoding=UTF8', ...locale, ...access];
    const { command, args: wrapped, ...ids } = runAs.wrap(initdb, args);
    const result = await runToEnd(command, wrapped, { timeoutMs: 120_000, cwd: '/', ...ids, signal });
    if (!result.succeeded) {
      throw new AppError('unavailable', `PostgreSQL could not create its data: ${result.complaint}${hint(result)}`);
    }
    renameSync(draft, path);
  } finally {
    rmSync(passwordFile, { force: true });
    rmSync(draft, { recursive: true, force: true });
  }
}

function hint({ complaint }: { complaint: string }): string {
  if (/user does not exist/.test(complaint)) {
    return '\nThis user id has no entry in the user database: add one, or name a server in DATABASE_URL.';
  }
  if (/No space left on device/i.test(complaint))
    return '\nMake room on the disk of the home, or choose another --home.';
  return '';
}

/** The password of a server that was made before; undefined where there is none. */
export function readPassword(directory: string): string | undefined {
  const path = join(directory, 'password');
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : undefined;
}

function readOrMakePassword(path: string, dataExists: boolean): string {
  if (existsSync(path)) return readFileSync(path, 'utf8').trim();
  if (dataExists) {
    throw new AppError(
      'configuration',
      `The password of the embedded PostgreSQL is missing (${path}). Restore that file, or move its data away.`,
    );
  }
  const password = randomBytes(24).toString('base64url');
  writeFileSync(path, password, { mode: 0o600, flag: 'wx' });
  return password;
}

/**
 * A server that was killed leaves a lock with its process id, and refuses to start while any process has that id. We
 * hold the lock of the home: whatever has the id is either our own leftover, which is stopped, or a stranger.
 */
async function clearLeftoverLock(path: string): Promise<void> {
  const lock = join(path, 'postmaster.pid');
  if (!existsSync(lock)) return;
  const identity = identifyProcess(Number(readFileSync(lock, 'utf8').split('\n')[0]));
  if (identity && commandOf(identity.pid)?.includes(path)) {
    await endProcess(identity, { signal: 'SIGINT', graceMs: 15_000 });
  }
  rmSync(lock, { force: true });
}
