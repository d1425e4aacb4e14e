import { randomUUID } from 'node:crypto';
import { Router } from 'express';
import type { JsonObject } from '../../contracts';
import { AppError } from '../../contracts';
import { threadBranchRequestSchema } from '../../contracts/schemas/threads';
import type { CheckpointRow, ThreadRow } from '../../db';
import type { ApiDependencies } from '../dependencies';
import { copyThreadFiles } from '../files/copy-thread-files';
import { disconnectSignal } from '../http/disconnect-signal';
import { handler } from '../http/handler';
import { ownThread } from '../http/owned';
import { parse } from '../http/validation';
import type { StoredMessage } from '../runs/latest-turn';
import { isAnswer, readMessages } from '../runs/latest-turn';

const UNREACHABLE = 'This turn can no longer be branched from.';
const NOT_MAIN = 'Branching is only available in the main conversation.';

/** Channels that name things of the thread that they are in. */
const OWN_CHANNELS = ['sandbox', 'thread_data'];

type CloneMode = 'current_thread_best_effort' | 'not_found' | 'failed' | 'skipped_historical_turn';

/** A new conversation that goes on from an earlier answer. */
export function createBranchesRouter(deps: ApiDependencies): Router {
  const router = Router();
  router.post(
    '/threads/:threadId/branches',
    handler(async (request, response) => {
      const body = parse(threadBranchRequestSchema, request.body, 'body');
      const { owner, threadId, row } = await ownThread(deps, request, response);
      if (row.metadata['deerflow_sidecar'] === true) throw new AppError('conflict', NOT_MAIN);
      const messages = await readMessages(deps.stores, threadId);
      const place = messages.findIndex(({ message }) => message.id === body.message_id);
      const answer = messages[place];
      if (answer === undefined || !isAnswer(answer.message)) throw new AppError('conflict', UNREACHABLE);
      const checkpoint = await endOfTurn(deps, owner, threadId, answer);
      const copied = await deps.stores.threads.copy({
        owner,
        sourceId: threadId,
        threadId: randomUUID(),
        metadata: branchMetadata(row, checkpoint, body.message_id),
        watermark: checkpoint.watermark,
        withoutChannels: OWN_CHANNELS,
      });
      if (copied === null) throw new AppError('conflict', UNREACHABLE);
      if (body.title !== null && body.title !== undefined) {
        await deps.stores.log.commit({
          threadId: copied.threadId,
          channels: { title: body.title },
          checkpoint: { step: checkpoint.step + 1, source: 'fork', node: 'branch', next: checkpoint.next },
        });
      }
      const isLatest = !messages.slice(place + 1).some(({ message }) => message.type === 'human');
      const files = { owner, fromThreadId: threadId, toThreadId: copied.threadId, signal: disconnectSignal(response) };
      response.json({
        thread_id: copied.threadId,
        parent_thread_id: threadId,
        parent_checkpoint_id: checkpoint.checkpointId,
        branched_from_message_id: body.message_id,
        workspace_clone_mode: isLatest
          ? await cloneFiles(deps, files)
          : ('skipped_historical_turn' satisfies CloneMode),
        history_seed_mode: 'seeded',
      });
    }),
  );
  return router;
}

/** The state that the answer's run left, or, where that run is not known here, the first one that nothing waits in. */
async function endOfTurn(
  deps: ApiDependencies,
  owner: string,
  threadId: string,
  { row }: StoredMessage,
): Promise<CheckpointRow> {
  const run = row.runId === null ? null : await deps.stores.runs.get(owner, row.runId);
  if (run !== null && run.threadId === threadId && run.endWatermark === null) {
    throw new AppError('conflict', UNREACHABLE);
  }
  const known = run !== null && run.threadId === threadId ? run.endWatermark : null;
  const checkpoint =
    known === null
      ? await deps.stores.log.restAfter(threadId, row.since)
      : await deps.stores.log.checkpointAt(threadId, known);
  if (checkpoint === null || checkpoint.watermark < row.since) throw new AppError('conflict', UNREACHABLE);
  return checkpoint;
}

function branchMetadata(source: ThreadRow, checkpoint: CheckpointRow, messageId: string): JsonObject {
  const agent = source.metadata['agent_name'];
  return {
    ...(agent === undefined ? {} : { agent_name: agent }),
    deerflow_branch: true,
    branch_parent_thread_id: source.threadId,
    branch_parent_checkpoint_id: checkpoint.checkpointId,
    branch_parent_message_id: messageId,
    branch_created_at: new Date().toISOString(),
  };
}

/** Files are as they are now, so they fit the newest turn only; a branch without them is still a branch. */
async function cloneFiles(deps: ApiDependencies, files: Parameters<typeof copyThreadFiles>[1]): Promise<CloneMode> {
  try {
    const { found } = await copyThreadFiles(deps.settings.home, files);
    return found ? 'current_thread_best_effort' : 'not_found';
  } catch (error) {
    deps.log.warn({ err: error, threadId: files.toThreadId }, 'the files of a branched thread could not be copied');
    return 'failed';
  }
}
