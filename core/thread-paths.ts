/**
 * Where a thread's files lie below the runtime home, as text. Nothing is read or created
 * here: the API and the sandbox each make the directories in their own way, and must agree on their names.
 */
import { AppError, OWNER_ID_PATTERN, THREAD_ID_PATTERN } from '../contracts';

export interface ThreadDirectories {
  /** Holds everything of the thread; deleting a thread deletes it. */
  root: string;
  userData: string;
  workspace: string;
  uploads: string;
  outputs: string;
  acpWorkspace: string;
}

/** SHA-256 of a text in hex; given from outside because this folder uses no host functions. */
export type TextDigest = (text: string) => string;

export interface ThreadLayout {
  /** Directory of everything that belongs to an owner; without one, that of single-user installations of old. */
  ownerRoot(owner: string | null): string;
  directories(owner: string | null, threadId: string): ThreadDirectories;
}

/** Directories of a thread that are made before anything works in it, parents first, relative to its root. */
export const THREAD_DIRECTORY_NAMES = [
  'user-data',
  'user-data/workspace',
  'user-data/uploads',
  'user-data/outputs',
] as const;

const LONGEST_OWNER = 200;

/**
 * Owner as a directory name. A foreign id keeps what is safe of it and gets a digest of the whole, so that two
 * different ids never share a directory.
 */
export function normaliseOwner(raw: string, digest: TextDigest): string {
  if (OWNER_ID_PATTERN.test(raw) && raw.length <= LONGEST_OWNER) return raw;
  const safe = raw.replace(/[^A-Za-z0-9_-]/g, '-').slice(0, LONGEST_OWNER);
  return `${safe}-${digest(raw).slice(0, 16)}`;
}

export function createThreadLayout({ home, digest }: { home: string; digest: TextDigest }): ThreadLayout {
  const base = home.length > 1 ? home.replace(/\/+$/, '') : home;
  const ownerRoot = (owner: string | null): string =>
    owner === null ? base : `${base}/users/${normaliseOwner(owner, digest)}`;

  return {
    ownerRoot,
    directories(owner, threadId) {
      if (!THREAD_ID_PATTERN.test(threadId)) throw new AppError('bad_request', 'Invalid thread id');
      const root = `${ownerRoot(owner)}/threads/${threadId}`;
      const userData = `${root}/user-data`;
      return {
        root,
        userData,
        workspace: `${userData}/workspace`,
        uploads: `${userData}/uploads`,
        outputs: `${userData}/outputs`,
        acpWorkspace: `${root}/acp-workspace`,
      };
    },
  };
}
