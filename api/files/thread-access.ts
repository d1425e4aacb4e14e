import type { Request, Response } from 'express';
import type { ThreadDirectories } from '../../core/thread-paths';
import type { ApiDependencies } from '../dependencies';
import { readableThread, threadNotFound } from '../http/owned';
import { threadLayout } from './thread-directories';

type Access = Pick<ApiDependencies, 'settings' | 'stores'>;

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
export async function accessibleThread(deps: Access, request: Request, response: Response): Promise<AccessibleThread> {
  const thread = await readableThread(deps, request, response);
  return { ...thread, directories: threadLayout(deps.settings.home).directories(thread.owner, thread.threadId) };
}

/** The same for what changes a thread's files: there must be a thread. */
export async function existingThread(deps: Access, request: Request, response: Response): Promise<AccessibleThread> {
  const thread = await accessibleThread(deps, request, response);
  if (!thread.exists) throw threadNotFound(thread.threadId);
  return thread;
}
