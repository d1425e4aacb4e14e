import { randomUUID } from 'node:crypto';
import { rename, rm } from 'node:fs/promises';
import { AppError, THREAD_ID_PATTERN } from '../../contracts';
import { leadsNowhere } from './file-errors';
import { threadLayout } from './thread-directories';

interface ThreadOfOwner {
  owner: string;
  threadId: string;
}

/**
 * Removes everything of a thread from the disk; gives back whether there was anything. The directory is moved away
 * first, so that its content is out of reach at once, however long the removal takes. Ids of old that would make no
 * safe path have no files here.
 */
export async function removeThreadFiles(home: string, { owner, threadId }: ThreadOfOwner): Promise<boolean> {
  if (!THREAD_ID_PATTERN.test(threadId)) return false;
  const { root } = threadLayout(home).directories(owner, threadId);
  // The dot keeps it apart from every thread id.
  const doomed = `${root}.removed-${randomUUID()}`;
  try {
    await rename(root, doomed);
  } catch (error) {
    if (leadsNowhere(error)) return false;
    throw failed(error);
  }
  try {
    await rm(doomed, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    throw failed(error);
  }
  return true;
}

/** As when a container left files that only its own user may delete. */
function failed(cause: unknown): AppError {
  return new AppError('internal', 'The files of the thread could not be removed', { cause });
}
