import type { JsonValue } from '../../contracts';
import { AppError } from '../../contracts';
import type { RunCreateRequest } from '../../contracts/schemas/run-request';
import type { ApiDependencies } from '../dependencies';
import { configurableOf } from './parse-run-request';

/**
 * The checkpoint that a run starts from; null for the newest state. Clients send the newest checkpoint back with every
 * message, which is no wish for a branch.
 */
export async function requestedCheckpoint(
  deps: Pick<ApiDependencies, 'stores'>,
  threadId: string,
  request: RunCreateRequest,
): Promise<string | null> {
  const { checkpoint } = request;
  const checkpointThread = checkpoint?.['thread_id'];
  if (typeof checkpointThread === 'string' && checkpointThread !== threadId) {
    throw new AppError('checkpoint_mismatch', 'checkpoint thread_id does not match request thread_id');
  }
  const asked =
    text(request.checkpoint_id) ??
    text(checkpoint?.['checkpoint_id']) ??
    text(configurableOf(request)['checkpoint_id']);
  if (asked === null || isWhereTheReaderStands(threadId, request)) return null;
  return (await isPresent(deps, threadId, asked)) ? null : asked;
}

/**
 * DeerFlow's web UI names its thread in the context, and sends the newest checkpoint that it has read, time and all, with
 * every message. It reads none after a stop or when another page goes on with the conversation: taken for a branch, the
 * turns that it has not read of would be lost. Where it wants a branch it sends a prepared reference, which has no time.
 */
function isWhereTheReaderStands(threadId: string, { context, checkpoint }: RunCreateRequest): boolean {
  return context['thread_id'] === threadId && typeof checkpoint?.['ts'] === 'string';
}

/**
 * Whether a checkpoint is where the conversation stands now. One that only lacks a new title counts too: a thread that
 * was renamed since must not get its old name back with the next message.
 */
async function isPresent(
  { stores: { log } }: Pick<ApiDependencies, 'stores'>,
  threadId: string,
  checkpointId: string,
): Promise<boolean> {
  const head = await log.head(threadId);
  if (head === null || head.checkpointId === checkpointId) return head !== null;
  const asked = await log.checkpoint(threadId, checkpointId);
  if (asked === null || asked.next.join() !== head.next.join()) return false;
  return !(await log.messagesChangedAfter(threadId, asked.watermark));
}

function text(value: JsonValue | undefined): string | null {
  return typeof value === 'string' ? value : null;
}
