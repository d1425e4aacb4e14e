import type { Request, Response } from 'express';
import { AppError } from '../../contracts';
import type { ThreadDirectories } from '../../core/thread-paths';
import type { ThreadStore } from '../../db';
import { identityOf } from '../http/handler';
import { threadIdOf } from '../http/thread-id';
import { threadLayout } from './thread-directories';

export interface FileAccessDependencies {
  settings: { home: string };
  stores: { threads: Pick<ThreadStore, 'ownerOf'> };
}

/** The thread that a request names, once the one who asks may see it. */
export interface AccessibleThread {
  owner: string;
  threadId: string;
  directories: ThreadDirectories;
  /** Whether there is a thread; files may be uploaded before there is one. */
  exists: boolean;
}

/**
 * A thread of somebody else is not found. An id that belongs to nobody is fine: the path of its files contains the
 * owner, so that everybody sees only files of their own.
 */
export async function accessibleThread(
  { settings, stores }: FileAccessDependencies,
  request: Request,
  response: Response,
): Promise<AccessibleThread> {
  const threadId = threadIdOf(request);
  const { owner } = identityOf(response);
  const threadOwner = await stores.threads.ownerOf(threadId);
  if (threadOwner !== null && threadOwner !== owner) throw threadNotFound(threadId);
  const directories = threadLayout(settings.home).directories(owner, threadId);
  return { owner, threadId, directories, exists: threadOwner !== null };
}

/** The same for what changes a thread's files: there must be a thread. */
export async function existingThread(
  dependencies: FileAccessDependencies,
  request: Request,
  response: Response,
): Promise<AccessibleThread> {
  const thread = await accessibleThread(dependencies, request, response);
  if (!thread.exists) throw threadNotFound(thread.threadId);
  return thread;
}

function threadNotFound(threadId: string): AppError {
  return new AppError('thread_not_found', `Thread ${threadId} not found`);
}
