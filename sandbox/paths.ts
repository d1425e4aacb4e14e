/**
 * Where a thread's files lie below the runtime home (sandbox specification 2.1). Directories are made on demand and
 * opened to everybody, because a container may run under another user id than this service.
 */
import { createHash } from 'node:crypto';
import { chmod, lstat, mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, OWNER_ID_PATTERN, THREAD_ID_PATTERN } from '../contracts';

/** Names below a thread's directories that are ours: neither deliverables nor the user's files. */
export const RESERVED_NAMES = {
  outputs: ['.browser-frames', '.tool-results'],
  workspace: ['.mcp'],
} as const;

export interface ThreadDirectories {
  /** Holds everything of the thread; deleting a thread deletes it. */
  root: string;
  userData: string;
  workspace: string;
  uploads: string;
  outputs: string;
  acpWorkspace: string;
}

export interface ThreadPaths {
  readonly home: string;
  /** Host directories of a thread. Nothing is created. */
  directories(owner: string | null, threadId: string): ThreadDirectories;
  /** The same, once workspace, uploads and outputs exist as real directories. */
  ensure(owner: string | null, threadId: string): Promise<ThreadDirectories>;
  /** Directories with the skills that an owner's sandboxes show read-only. */
  skillViews(owner: string | null): Record<'public' | 'custom' | 'legacy' | 'integrations', string>;
}

const LONGEST_OWNER = 200;

/**
 * Owner as a directory name. A foreign id keeps what is safe of it and gets a digest of the whole, so that two
 * different ids never share a directory.
 */
export function normaliseOwner(raw: string): string {
  if (OWNER_ID_PATTERN.test(raw) && raw.length <= LONGEST_OWNER) return raw;
  const safe = raw.replace(/[^A-Za-z0-9_-]/g, '-').slice(0, LONGEST_OWNER);
  return `${safe}-${createHash('sha256').update(raw).digest('hex').slice(0, 16)}`;
}

export function createThreadPaths({ home }: { home: string }): ThreadPaths {
  // Without an owner, the layout of single-user installations of old is read.
  const ownerRoot = (owner: string | null) => (owner === null ? home : join(home, 'users', normaliseOwner(owner)));

  function directories(owner: string | null, threadId: string): ThreadDirectories {
    if (!THREAD_ID_PATTERN.test(threadId)) throw new AppError('bad_request', 'Invalid thread id');
    const root = join(ownerRoot(owner), 'threads', threadId);
    const userData = join(root, 'user-data');
    return {
      root,
      userData,
      workspace: join(userData, 'workspace'),
      uploads: join(userData, 'uploads'),
      outputs: join(userData, 'outputs'),
      acpWorkspace: join(root, 'acp-workspace'),
    };
  }

  return {
    home,
    directories,
    async ensure(owner, threadId) {
      const found = directories(owner, threadId);
      await mkdir(found.root, { recursive: true });
      const root = await realpath(found.root);
      for (const name of ['user-data', 'user-data/workspace', 'user-data/uploads', 'user-data/outputs']) {
        await ensureOpenDirectory(join(root, name));
      }
      return found;
    },
    skillViews(owner) {
      const views = join(ownerRoot(owner), 'skills_view');
      return {
        public: join(home, 'skills_view', 'public'),
        custom: join(views, 'custom'),
        legacy: join(views, 'legacy'),
        integrations: join(views, 'integrations'),
      };
    },
  };
}

/** A directory of mode 0777 whatever the umask. A link in its place is refused: it could lead anywhere. */
async function ensureOpenDirectory(path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  const found = await lstat(path);
  if (!found.isDirectory()) throw new AppError('sandbox', 'A directory of this thread has been replaced by a link');
  if ((found.mode & 0o777) === 0o777) return;
  try {
    await chmod(path, 0o777);
  } catch (error) {
    // Somebody else's directory, as after a move between users: it works as it is, or the operation itself says so.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) throw error;
  }
}
