import { randomUUID } from 'node:crypto';
import { Router } from 'express';
import type { HumanMessage, JsonObject, Message } from '../../contracts';
import { AppError } from '../../contracts';
import { editRegenerateRequestSchema, regenerateRequestSchema } from '../../contracts/schemas/threads';
import { hasSucceeded } from '../../core/run-status';
import { contentText } from '../../core/text';
import type { CheckpointRow } from '../../db';
import type { ApiDependencies } from '../dependencies';
import { handler } from '../http/handler';
import { ownThread } from '../http/owned';
import { parse } from '../http/validation';
import type { LatestTurn } from '../runs/latest-turn';
import { latestTurn, messageNotFound, readMessages } from '../runs/latest-turn';

const NOT_LATEST = 'Only the latest assistant message can be regenerated';
const USER_INPUT = 'user-input';
/** Older conversations keep a reminder under the id of the message that it came before. */
const USER_SUFFIX = /__user$/;

/** Prepares the request that does the newest turn again; the client then sends it as an ordinary run. */
export function createRegenerateRouter(deps: ApiDependencies): Router {
  const router = Router();

  router.post(
    '/threads/:threadId/runs/regenerate/prepare',
    handler(async (request, response) => {
      const { message_id: messageId } = parse(regenerateRequestSchema, request.body, 'body');
      const { owner, threadId, row } = await ownThread(deps, request, response);
      const messages = await readMessages(deps.stores, threadId);
      const named = messages.find(({ message }) => message.id === messageId);
      if (named === undefined) throw messageNotFound(messageId);
      const turn = await latestTurn(deps.stores, owner, threadId, messages);
      if (turn === null || turn.answer.message.id !== messageId) throw new AppError('conflict', NOT_LATEST);
      const input = { messages: [questionAgain(turn)], ...(row.title === null ? {} : { title: row.title }) };
      response.json({
        input,
        checkpoint: checkpointReference(turn.before),
        metadata: replayMetadata(turn),
        target_run_id: turn.run.runId,
      });
    }),
  );

  router.post(
    '/threads/:threadId/runs/edit-regenerate/prepare',
    handler(async (request, response) => {
      const body = parse(editRegenerateRequestSchema, request.body, 'body');
      const { owner, threadId } = await ownThread(deps, request, response);
      const messages = await readMessages(deps.stores, threadId);
      const asked = messages.find(({ message }) => sameMessage(message, body.human_message_id));
      if (asked === undefined) throw messageNotFound(body.human_message_id);
      const turn = await latestTurn(deps.stores, owner, threadId, messages);
      if (turn === null || turn.question.message.id !== asked.message.id) throw new AppError('conflict', NOT_LATEST);
      const { goal } = await deps.stores.log.channels(threadId);
      const text = checkEdit(turn, body.replacement_text, goal !== undefined);
      response.json(editedTurn(turn, text));
    }),
  );

  return router;
}

function sameMessage(message: Message, id: string): boolean {
  return message.type === 'human' && (message.id === id || message.id === id.replace(USER_SUFFIX, ''));
}

function checkEdit(turn: LatestTurn, replacement: string, hasGoal: boolean): string {
  const text = replacement.trim();
  if (text === '') throw new AppError('conflict', 'The edited message is empty');
  if (text === contentText(turn.question.message.content).trim()) {
    throw new AppError('conflict', 'The edited message is unchanged');
  }
  if (hasGoal) throw new AppError('conflict', 'Cannot edit while a goal is active');
  if (!hasSucceeded(turn.run.status)) {
    throw new AppError('conflict', 'Only a message whose run was successful can be edited');
  }
  return text;
}

function questionAgain({ question }: LatestTurn): JsonObject {
  const { id, content, name, additional_kwargs: kwargs } = question.message as HumanMessage;
  return {
    type: 'human',
    id: id.replace(USER_SUFFIX, ''),
    content: typeof content === 'string' ? [{ type: 'text', text: content }] : content,
    additional_kwargs: kwargs,
    name: name ?? USER_INPUT,
  };
}

function editedTurn(turn: LatestTurn, text: string): JsonObject {
  const { question, replies, answer, run, before } = turn;
  const id = randomUUID();
  const message = { type: 'human', id, content: [{ type: 'text', text }], additional_kwargs: {}, name: USER_INPUT };
  const group = run.metadata['edit_version_group_id'];
  return {
    input: { messages: [message] },
    checkpoint: checkpointReference(before),
    metadata: {
      replay_kind: 'edit',
      ...replayMetadata(turn),
      edit_from_message_id: question.message.id,
      edit_message_id: id,
      edit_version_group_id: typeof group === 'string' ? group : question.message.id,
    },
    target_run_id: run.runId,
    replacement_human_message_id: id,
    source_message_ids: [
      question,
      ...replies.filter(({ message: { id: one } }) => one !== answer.message.id),
      answer,
    ].map((stored) => stored.message.id),
  };
}

function replayMetadata({ answer, run, before }: LatestTurn): JsonObject {
  return {
    regenerate_from_message_id: answer.message.id,
    regenerate_from_run_id: run.runId,
    regenerate_checkpoint_id: before.checkpointId,
  };
}

function checkpointReference({ checkpointId }: CheckpointRow): JsonObject {
  return { checkpoint_ns: '', checkpoint_id: checkpointId, checkpoint_map: null };
}
