import { createHash } from 'node:crypto';
import { chmod, lstat, mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../contracts';
import { createThreadLayout, THREAD_DIRECTORY_NAMES } from '../../core/thread-paths';
import type { ThreadDirectories, ThreadLayout } from '../../core/thread-paths';
import { errorCode } from './file-errors';

export function threadLayout(home: string): ThreadLayout {
  return createThreadLayout({ home, digest: (text) => createHash('sha256').update(text).digest('hex') });
}

/**
 * Makes the thread's directories, open to everybody whatever the umask: a container may work in them under another
 * user id. A link in the place of one is refused, because it could lead anywhere.
 */
export async function ensureThreadDirectories(directories: ThreadDirectories): Promise<void> {
  await mkdir(directories.root, { recursive: true });
  const root = await realpath(directories.root);
  for (const name of THREAD_DIRECTORY_NAMES) await ensureOpenDirectory(join(root, name));
}

async function ensureOpenDirectory(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
  const found = await lstat(path);
  if (!found.isDirectory()) throw new AppError('forbidden', 'A directory of this thread has been replaced by a link');
  if ((found.mode & 0o777) === 0o777) return;
  try {
    await chmod(path, 0o777);
  } catch (error) {
    // Somebody else's directory, as after a move between users: it works as it is, or the write itself says so.
    if (errorCode(error) !== 'EPERM') throw error;
  }
}
