import type { Response } from 'express';
import { Router } from 'express';
import type { JsonValue } from '../../contracts';
import { AppError } from '../../contracts';
import {
  checkpointStateRequestSchema,
  threadHistoryRequestSchema,
  threadPatchRequestSchema,
  threadStateUpdateRequestSchema,
} from '../../contracts/schemas/threads';
import type { ApiDependencies } from '../dependencies';
import { handler, pathParameter } from '../http/handler';
import { ownThread, readableThread, threadNotFound } from '../http/owned';
import { sendEmpty, sendJsonText } from '../http/responses';
import { parse } from '../http/validation';
import { historyJson, stateJson } from '../state/state-view';
import { clientMetadata } from '../state/thread-view';
import { writeState } from '../state/write-state';

/** State, checkpoints and history of a thread. */
export function createThreadStateRouter(deps: ApiDependencies): Router {
  const router = Router();
  const { log, threads } = deps.stores;

  async function sendState(response: Response, threadId: string): Promise<void> {
    const text = await stateJson(deps.stores, threadId);
    if (text === null) throw threadNotFound(threadId);
    sendJsonText(response, text);
  }

  async function sendStateAt(response: Response, threadId: string, checkpointId: string): Promise<void> {
    const row = await log.checkpoint(threadId, checkpointId);
    const text = row === null ? null : await stateJson(deps.stores, threadId, row);
    if (text === null) throw new AppError('checkpoint_not_found', `Checkpoint ${checkpointId} not found`);
    sendJsonText(response, text);
  }

  router.get(
    '/threads/:threadId/state',
    handler(async (request, response) => {
      const { threadId } = await ownThread(deps, request, response);
      await sendState(response, threadId);
    }),
  );

  router.post(
    '/threads/:threadId/state',
    handler(async (request, response) => {
      const body = parse(threadStateUpdateRequestSchema, request.body, 'body');
      const thread = await ownThread(deps, request, response);
      await writeState(deps.stores, thread, body);
      await sendState(response, thread.threadId);
    }),
  );

  router.patch(
    '/threads/:threadId/state',
    handler(async (request, response) => {
      const body = parse(threadPatchRequestSchema, request.body, 'body');
      const { owner, threadId } = await ownThread(deps, request, response);
      await threads.mergeMetadata(owner, threadId, clientMetadata(body.metadata), true);
      sendEmpty(response, 204);
    }),
  );

  router.post(
    '/threads/:threadId/state/checkpoint',
    handler(async (request, response) => {
      const body = parse(checkpointStateRequestSchema, request.body, 'body');
      const { threadId } = await ownThread(deps, request, response);
      const checkpointId = body.checkpoint['checkpoint_id'];
      if (typeof checkpointId === 'string') await sendStateAt(response, threadId, checkpointId);
      else await sendState(response, threadId);
    }),
  );

  router.get(
    '/threads/:threadId/state/:checkpointId',
    handler(async (request, response) => {
      const { threadId } = await ownThread(deps, request, response);
      await sendStateAt(response, threadId, pathParameter(request, 'checkpointId'));
    }),
  );

  router.post(
    '/threads/:threadId/history',
    handler(async (request, response) => {
      const body = parse(threadHistoryRequestSchema, request.body ?? {}, 'body');
      const { threadId, exists } = await readableThread(deps, request, response);
      const before = checkpointIdIn(body.before);
      const query = { limit: body.limit, ...(before === null ? {} : { before }) };
      sendJsonText(response, exists ? await historyJson(deps.stores, threadId, query) : '[]');
    }),
  );

  return router;
}

/** The id itself, or the object that the official client wraps it in. */
function checkpointIdIn(before: JsonValue | undefined): string | null {
  if (typeof before === 'string') return before;
  if (before === null || before === undefined || typeof before !== 'object' || Array.isArray(before)) return null;
  const inner = before['configurable'] ?? before;
  return inner !== null && typeof inner === 'object' && !Array.isArray(inner) && inner['checkpoint_id'] !== undefined
    ? checkpointIdIn(inner['checkpoint_id'])
    : null;
}
