import type { Message } from '../../contracts';
import { AppError } from '../../contracts';
import type { CheckpointRow, LogMessage, RunRow, Stores } from '../../db';

export interface StoredMessage {
  message: Message;
  row: LogMessage;
}

/** The newest question and its answer, with the run that gave it and the state that it was asked in. */
export interface LatestTurn {
  question: StoredMessage;
  /** Everything that came after the question, the answer last. */
  replies: StoredMessage[];
  answer: StoredMessage;
  run: RunRow;
  before: CheckpointRow;
}

type TurnStores = Pick<Stores, 'log' | 'runs'>;

export async function readMessages({ log }: Pick<Stores, 'log'>, threadId: string): Promise<StoredMessage[]> {
  const rows = await log.messages(threadId);
  return rows.map((row) => ({ row, message: JSON.parse(row.body) as Message }));
}

/** Null where the conversation does not end with an answer of a run whose beginning is known. */
export async function latestTurn(
  stores: TurnStores,
  owner: string,
  threadId: string,
  messages: readonly StoredMessage[],
): Promise<LatestTurn | null> {
  const asked = messages.findLastIndex(({ message }) => message.type === 'human' && !isHidden(message));
  const question = messages[asked];
  const replies = messages.slice(asked + 1);
  const answer = replies.findLast(({ message }) => isAnswer(message));
  const runId = answer?.row.runId ?? null;
  if (question === undefined || answer === undefined || runId === null) return null;
  const run = await stores.runs.get(owner, runId);
  if (run === null || run.threadId !== threadId || run.baseWatermark === null) return null;
  // A turn that was done again began at the checkpoint that it was sent with, not where the conversation then stood.
  const { checkpointId } = run.options;
  const before =
    checkpointId === undefined
      ? await stores.log.checkpointAt(threadId, run.baseWatermark)
      : await stores.log.checkpoint(threadId, checkpointId);
  return before === null ? null : { question, replies, answer, run, before };
}

/** A reply that a person sees as the end of a turn. */
export function isAnswer(message: Message): boolean {
  return message.type === 'ai' && message.tool_calls.length === 0 && !isHidden(message);
}

export function isHidden(message: Message): boolean {
  return message.additional_kwargs['hide_from_ui'] === true;
}

export function messageNotFound(messageId: string): AppError {
  return new AppError('not_found', `Message ${messageId} not found`);
}
