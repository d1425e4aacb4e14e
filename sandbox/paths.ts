/**
 * Where a thread's files lie below the runtime home. Directories are made on demand and
 * opened to everybody, because a container may run under another user id than this service.
 */
import { createHash } from 'node:crypto';
import { chmod, lstat, mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../contracts';
import { createThreadLayout, normaliseOwner as normalise, THREAD_DIRECTORY_NAMES } from '../core/thread-paths';
import type { ThreadDirectories } from '../core/thread-paths';
import { errorCode } from './file-errors';

export type { ThreadDirectories };

/** Names below a thread's directories that are ours: neither deliverables nor the user's files. */
export const RESERVED_NAMES = {
  outputs: ['.browser-frames', '.tool-results'],
  workspace: ['.mcp'],
} as const;

export interface ThreadPaths {
  readonly home: string;
  /** Host directories of a thread. Nothing is created. */
  directories: (owner: string | null, threadId: string) => ThreadDirectories;
  /** The same, once workspace, uploads and outputs exist as real directories. */
  ensure: (owner: string | null, threadId: string) => Promise<ThreadDirectories>;
  /** Directories with the skills that an owner's sandboxes show read-only. */
  skillViews: (owner: string | null) => Record<'public' | 'custom' | 'legacy' | 'integrations', string>;
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

export function normaliseOwner(raw: string): string {
  return normalise(raw, digest);
}

export function createThreadPaths({ home }: { home: string }): ThreadPaths {
  const layout = createThreadLayout({ home, digest });

  return {
    home,
    directories: (owner, threadId) => layout.directories(owner, threadId),
    async ensure(owner, threadId) {
      const found = layout.directories(owner, threadId);
      const root = await realpath(found.root).catch(async (error: unknown) => {
        if (errorCode(error) !== 'ENOENT') throw error;
        await mkdir(found.root, { recursive: true });
        return realpath(found.root);
      });
      await Promise.all(THREAD_DIRECTORY_NAMES.map((name) => ensureOpenDirectory(join(root, name))));
      return found;
    },
    skillViews(owner) {
      const views = join(layout.ownerRoot(owner), 'skills_view');
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
  // Every tool call looks; hardly any finds something to make.
  const found = await lstat(path).catch(async (error: unknown) => {
    if (errorCode(error) !== 'ENOENT') throw error;
    await mkdir(path, { recursive: true });
    return lstat(path);
  });
  if (!found.isDirectory()) throw new AppError('sandbox', 'A directory of this thread has been replaced by a link');
  if ((found.mode & 0o777) === 0o777) return;
  try {
    await chmod(path, 0o777);
  } catch (error) {
    // Somebody else's directory, as after a move between users: it works as it is, or the operation itself says so.
    if (errorCode(error) !== 'EPERM') throw error;
  }
}
