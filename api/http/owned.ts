import type { Request, Response } from 'express';
import { AppError } from '../../contracts';
import type { RunRow, ThreadRow } from '../../db';
import type { ApiDependencies } from '../dependencies';
import { identityOf, pathParameter } from './handler';
import { threadIdOf } from './thread-id';

type Access = Pick<ApiDependencies, 'stores'>;

export interface OwnThread {
  owner: string;
  threadId: string;
}

/** The thread of the path, which must be there and belong to the one who asks. */
export async function ownThread(
  deps: Access,
  request: Request,
  response: Response,
): Promise<OwnThread & { row: ThreadRow }> {
  const threadId = threadIdOf(request);
  const { owner } = identityOf(response);
  const row = await deps.stores.threads.get(owner, threadId);
  if (row === null) throw threadNotFound(threadId);
  return { owner, threadId, row };
}

/** The same for lists, which are empty for a thread that nobody has; a thread of somebody else is not found. */
export async function readableThread(
  deps: Access,
  request: Request,
  response: Response,
): Promise<OwnThread & { exists: boolean }> {
  const threadId = threadIdOf(request);
  const { owner } = identityOf(response);
  const threadOwner = await deps.stores.threads.ownerOf(threadId);
  if (threadOwner !== null && threadOwner !== owner) throw threadNotFound(threadId);
  return { owner, threadId, exists: threadOwner !== null };
}

/** The run of the path, which must be one of the thread's. */
export async function ownRun(deps: Access, request: Request, response: Response): Promise<RunRow> {
  const runId = pathParameter(request, 'runId');
  const { owner, threadId } = await readableThread(deps, request, response);
  const row = await deps.stores.runs.get(owner, runId);
  if (row === null || row.threadId !== threadId) throw runNotFound(runId);
  return row;
}

export function threadNotFound(threadId: string): AppError {
  return new AppError('thread_not_found', `Thread ${threadId} not found`);
}

export function runNotFound(runId: string): AppError {
  return new AppError('run_not_found', `Run ${runId} not found`);
}
