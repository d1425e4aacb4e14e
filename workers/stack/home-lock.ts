/**
 * One stack per home. The lock is a file that says who runs it and where it can be reached; it outlives a killed
 * supervisor, and is worth nothing once that process is gone.
 */
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../../contracts';
import { writeFileAtomically } from './atomic-file';
import { identifyProcess, isRunning, type ProcessIdentity } from './process-identity';

/** Where the parts of a running stack are. No secrets. */
export interface StackAddresses {
  apiUrl: string;
  temporalAddress: string;
  temporalUiUrl?: string;
  /** Of the embedded server; absent where the database was given. */
  postgresPort?: number;
}

export interface StackState extends ProcessIdentity {
  /** Absent while it starts. */
  addresses?: StackAddresses;
}

export interface HomeLock {
  publish(addresses: StackAddresses): void;
  release(): void;
}

const SETTLE_MS = 50;

export function lockPath(home: string): string {
  return join(home, 'stack', 'running.json');
}

/** The stack that runs on a home, if one does. */
export function runningStack(home: string): StackState | undefined {
  const state = readState(lockPath(home));
  return state && isRunning(state) ? state : undefined;
}

export async function lockHome(home: string): Promise<HomeLock> {
  const path = lockPath(home);
  const self = identifyProcess(process.pid);
  if (!self) throw new AppError('internal', 'This process cannot identify itself.');
  mkdirSync(dirname(path), { recursive: true });
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const holder = readState(path);
    if (holder && isRunning(holder)) throw alreadyRunning(holder);
    if (holder) removeStale(path, holder);
    if (claim(path, self)) {
      // Another start may have taken our file for the stale one that it had read: then it puts ours back, or has its own.
      await delay(SETTLE_MS);
      if (isSame(readState(path), self)) return heldLock(path, self);
    }
    await delay(SETTLE_MS);
  }
  throw new AppError('conflict', 'Another start on the same home is in the way. Try again.');
}

function heldLock(path: string, self: ProcessIdentity): HomeLock {
  return {
    publish: (addresses) => writeFileAtomically(path, JSON.stringify({ ...self, addresses })),
    release: () => {
      if (isSame(readState(path), self)) rmSync(path, { force: true });
    },
  };
}

/** A hard link appears whole or not at all, and never over an existing file. */
function claim(path: string, self: ProcessIdentity): boolean {
  const draft = `${path}.${process.pid}`;
  writeFileAtomically(draft, JSON.stringify(self));
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function removeStale(path: string, stale: ProcessIdentity): void {
  const aside = `${path}.${process.pid}.stale`;
  try {
    renameSync(path, aside);
  } catch {
    return;
  }
  // Between the look and the move, another start may have made the file its own.
  if (!isSame(readState(aside), stale)) {
    try {
      linkSync(aside, path);
    } catch {
      // A third start has it by now; the second one notices when it looks again.
    }
  }
  rmSync(aside, { force: true });
}

function alreadyRunning(state: StackState): AppError {
  const where = state.addresses ? `It answers at ${state.addresses.apiUrl}.` : 'It is still starting.';
  return new AppError('conflict', `A stack already runs on this home (process ${state.pid}). ${where}`, {
    detail: { pid: state.pid, addresses: state.addresses },
  });
}

function readState(path: string): StackState | undefined {
  try {
    const state = JSON.parse(readFileSync(path, 'utf8')) as StackState;
    return typeof state.pid === 'number' && typeof state.started === 'string' ? state : undefined;
  } catch {
    return undefined;
  }
}

function isSame(first: ProcessIdentity | undefined, second: ProcessIdentity): boolean {
  return first?.pid === second.pid && first.started === second.started;
}
