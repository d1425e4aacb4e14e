import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import type { JsonObject, Message } from '../../contracts';
import { AppError } from '../../contracts';
import type { threadStateUpdateRequestSchema } from '../../contracts/schemas/threads';
import { coerceInputMessages } from '../../core/input-messages';
import { MESSAGES_CHANNEL, isKnownChannel, isWritableChannel } from '../../core/state-channels';
import type { CheckpointRow, StepCommit, Stores } from '../../db';

type StateUpdate = z.output<typeof threadStateUpdateRequestSchema>;

/** Unknown channels that an answer names. */
const SHOWN_CHANNELS = 20;
const DEFAULT_NODE = 'manual_state_update';

/**
 * Replaces the named channels of a thread's state, never merges into them, and leaves a new checkpoint. The thread is
 * held meanwhile, so that no run begins between the look and the write.
 */
export async function writeState(
  stores: Pick<Stores, 'log' | 'threads'>,
  thread: { owner: string; threadId: string },
  update: StateUpdate,
): Promise<void> {
  const { owner, threadId } = thread;
  const unknown = Object.keys(update.values).filter((channel) => !isKnownChannel(channel));
  if (unknown.length > 0) {
    const shown = unknown.slice(0, SHOWN_CHANNELS).join(', ');
    throw new AppError('invalid_request', `Unknown thread-state field(s): ${shown}`);
  }
  const messages = newMessages(update.values);
  if (!(await stores.threads.hold(owner, threadId, 'state write'))) {
    throw new AppError('thread_busy', 'Thread has a run in flight. Update state after the run finishes.');
  }
  try {
    await stores.log.commit(await planCommit(stores, threadId, update, messages));
  } finally {
    await stores.threads.release(threadId);
  }
}

function newMessages(values: JsonObject): Message[] | null {
  if (!(MESSAGES_CHANNEL in values)) return null;
  const options = { newId: randomUUID, place: 'values.messages', keepServerOwned: true };
  return coerceInputMessages(values[MESSAGES_CHANNEL], options);
}

async function planCommit(
  { log }: Pick<Stores, 'log'>,
  threadId: string,
  update: StateUpdate,
  messages: Message[] | null,
): Promise<StepCommit> {
  const head = await log.head(threadId);
  const base = await baseCheckpoint({ log }, threadId, update, head);
  const restore = base !== null && base.watermark !== head?.watermark ? base.watermark : undefined;
  const channels = Object.fromEntries(Object.entries(update.values).filter(([channel]) => isWritableChannel(channel)));
  return {
    threadId,
    channels,
    ...(restore === undefined ? {} : { restore }),
    // Everything that is there goes and comes anew, so that the order is the one that was sent.
    ...(messages === null ? {} : { messages, removeMessages: await messageIds({ log }, threadId, base) }),
    checkpoint: {
      step: (base?.step ?? -1) + 1,
      source: 'update',
      node: update.as_node ?? DEFAULT_NODE,
      // A thread that waits at a breakpoint still waits: people correct the state and then go on.
      next: base?.next ?? [],
      interrupts: base?.interrupts ?? [],
      ...(base === null ? {} : { parentId: base.checkpointId }),
    },
  };
}

async function baseCheckpoint(
  { log }: Pick<Stores, 'log'>,
  threadId: string,
  update: StateUpdate,
  head: CheckpointRow | null,
): Promise<CheckpointRow | null> {
  const asked = update.checkpoint_id ?? update.checkpoint?.['checkpoint_id'];
  if (asked === undefined || asked === null) return head;
  const id = typeof asked === 'string' ? asked : JSON.stringify(asked);
  const found = await log.checkpoint(threadId, id);
  if (found === null) throw new AppError('checkpoint_not_found', `Checkpoint ${id} not found`);
  return found;
}

async function messageIds(
  { log }: Pick<Stores, 'log'>,
  threadId: string,
  base: CheckpointRow | null,
): Promise<string[]> {
  const { messages } = await log.state(threadId, base?.watermark);
  return messages.map((body) => (JSON.parse(body) as Message).id);
}
