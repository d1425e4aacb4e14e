import { randomUUID } from 'node:crypto';
import { Router } from 'express';
import type { JsonObject } from '../../contracts';
import { AppError } from '../../contracts';
import {
  threadCountRequestSchema,
  threadCreateRequestSchema,
  threadPatchRequestSchema,
  threadSearchRequestSchema,
} from '../../contracts/schemas/threads';
import { storableText } from '../../core/text';
import type { ApiDependencies } from '../dependencies';
import { copyThreadFiles } from '../files/copy-thread-files';
import { removeThreadFiles } from '../files/remove-thread-files';
import { disconnectSignal } from '../http/disconnect-signal';
import { handler, identityOf, pathParameter } from '../http/handler';
import { ownThread, threadNotFound } from '../http/owned';
import { sendEmpty, sendJsonText } from '../http/responses';
import { parse } from '../http/validation';
import { clientMetadata, threadBrief, threadJson, threadSummary } from '../state/thread-view';

/** Threads themselves; what is in them is the business of the state routes. */
export function createThreadsRouter(deps: ApiDependencies): Router {
  const router = Router();
  const { threads } = deps.stores;

  router.post(
    '/threads',
    handler(async (request, response) => {
      const body = parse(threadCreateRequestSchema, request.body, 'body');
      const { owner } = identityOf(response);
      const threadId = body.thread_id ?? randomUUID();
      const result = await threads.create({ threadId, owner, metadata: clientMetadata(body.metadata) });
      if (result === null) throw threadNotFound(threadId);
      if (!result.created && body.if_exists === 'raise') {
        throw new AppError('thread_exists', `Thread ${threadId} already exists`);
      }
      response.json(threadBrief(result.row));
    }),
  );

  router.post(
    '/threads/search',
    handler(async (request, response) => {
      const body = parse(threadSearchRequestSchema, request.body ?? {}, 'body');
      const rows = await threads.search({
        owner: identityOf(response).owner,
        metadata: body.metadata,
        sortBy: body.sort_by ?? 'updated_at',
        sortOrder: body.sort_order ?? 'desc',
        limit: body.limit,
        offset: body.offset,
        ...present({ status: body.status, archived: body.archived, ids: body.ids }),
      });
      response.json(rows.map(threadSummary));
    }),
  );

  router.post(
    '/threads/count',
    handler(async (request, response) => {
      const body = parse(threadCountRequestSchema, request.body ?? {}, 'body');
      const { owner } = identityOf(response);
      response.json(await threads.count({ owner, metadata: body.metadata, ...present({ status: body.status }) }));
    }),
  );

  router.get(
    '/threads/:threadId',
    handler(async (request, response) => {
      const { row } = await ownThread(deps, request, response);
      sendJsonText(response, await threadJson(deps.stores, row));
    }),
  );

  router.patch(
    '/threads/:threadId',
    handler(async (request, response) => {
      const body = parse(threadPatchRequestSchema, request.body, 'body');
      const { owner, threadId } = await ownThread(deps, request, response);
      const metadata = clientMetadata(body.metadata);
      const row = await threads.mergeMetadata(owner, threadId, metadata, !onlyMarks(metadata));
      if (row === null) throw threadNotFound(threadId);
      if (/\breturn=minimal\b/.test(request.headers.prefer?.toString() ?? '')) sendEmpty(response, 204);
      else response.json(threadBrief(row));
    }),
  );

  router.delete(
    '/threads/:threadId',
    handler(async (request, response) => {
      response.json({ success: true, message: await deleteThread(deps, identityOf(response).owner, request) });
    }),
  );

  router.post(
    '/threads/:threadId/copy',
    handler(async (request, response) => {
      const { owner, threadId, row } = await ownThread(deps, request, response);
      const copy = { owner, sourceId: threadId, threadId: randomUUID(), metadata: row.metadata };
      const copied = await threads.copy(copy);
      if (copied === null) throw threadNotFound(threadId);
      const files = { owner, fromThreadId: threadId, toThreadId: copied.threadId, signal: disconnectSignal(response) };
      await copyThreadFiles(deps.settings.home, files);
      response.json(threadBrief(copied));
    }),
  );

  return router;
}

/** Pinning and archiving is no work on a thread: it keeps its place in time. */
function onlyMarks(metadata: JsonObject): boolean {
  const entries = Object.entries(metadata);
  const marks = ['deerflow_pinned', 'deerflow_archived'];
  return entries.length > 0 && entries.every(([key, value]) => marks.includes(key) && typeof value === 'boolean');
}

/** Ids of old, which no other route takes, can still be deleted. */
async function deleteThread(
  deps: ApiDependencies,
  owner: string,
  request: Parameters<typeof pathParameter>[0],
): Promise<string> {
  const { threads } = deps.stores;
  const threadId = storableText(pathParameter(request, 'threadId'));
  if ((await threads.get(owner, threadId)) === null) throw threadNotFound(threadId);
  const busy = new AppError('thread_busy', 'Thread has work in flight. Delete it after the work finishes.');
  if (!(await threads.hold(owner, threadId, 'deletion'))) throw busy;
  try {
    // Files first: were they left behind, a new thread of the same id would find them.
    const hadFiles = await removeThreadFiles(deps.settings.home, { owner, threadId });
    // Removing very many files can outlast the hold, and then a run may have the thread.
    const deleted = await threads.delete(owner, threadId);
    if (!deleted && (await threads.get(owner, threadId)) !== null) throw busy;
    return hadFiles ? `Deleted local thread data for ${threadId}` : `No local data for ${threadId}`;
  } finally {
    await threads.release(threadId);
  }
}

/** The keys that have a value. */
function present<T extends Record<string, unknown>>(values: T): { [Key in keyof T]?: NonNullable<T[Key]> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== null)) as {
    [Key in keyof T]?: NonNullable<T[Key]>;
  };
}
