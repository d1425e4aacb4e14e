/**
 * The frame of one attempt, whatever the provider: who may end it, how long its silence may last, and which of several
 * errors counts in the end.
 */
import { isSafetyReason } from '../core/reply-policies';
import type { ModelReply, ModelRequest, RawToolCall, ReplyDelta } from './chat-model';
import { connectionFailure, contentlessFailure, emptyReplyFailure, stalledFailure } from './failure';

/** Stall times that a provider may keep a connection alive without content. Some let a request queue for ten minutes. */
const QUIET_STALL_TIMES = 5;
/** Longer ones would run out at once. */
const LONGEST_TIMER_MS = 2_147_483_647;

export interface Attempt {
  /** Aborted when the attempt is over, for whatever reason: it ends the connection. */
  readonly signal: AbortSignal;
  /** Waits for the provider. Silence for longer than the stall time ends the attempt, and rejects. */
  readonly wait: <Value>(promise: Promise<Value>) => Promise<Value>;
  /** Hands on what is new, or null where a part brought nothing. No clock runs while the reader is busy. */
  readonly deliver: (delta: ReplyDelta | null) => Promise<void>;
}

export interface AttemptOptions {
  request: ModelRequest;
  stallTimeoutMs: number;
}

/** Carries a reader's error through a library untouched. */
class ReaderError extends Error {
  constructor(readonly reason: unknown) {
    super('the reader failed');
  }
}

/**
 * Runs `read` to its end and gives back what it failed of; undefined where it did not. Throws the reader's own error,
 * and the reason of the signal where the caller stopped.
 */
export async function runAttempt(
  { request, stallTimeoutMs }: AttemptOptions,
  read: (attempt: Attempt) => Promise<void>,
): Promise<unknown> {
  request.signal.throwIfAborted();
  const abort = new AbortController();
  const forward = () => abort.abort();
  request.signal.addEventListener('abort', forward, { once: true });
  const silence = watchSilence(stallTimeoutMs, () => abort.abort());
  const deliver = createDeliver(request, silence);
  let failure: unknown;
  try {
    silence.listen();
    await read({ signal: abort.signal, wait: silence.wait, deliver });
  } catch (error) {
    if (error instanceof ReaderError) throw error.reason;
    failure = error;
  } finally {
    silence.pause();
    request.signal.removeEventListener('abort', forward);
    // Ends the connection where the reader gave up in the middle of a reply.
    abort.abort();
  }
  request.signal.throwIfAborted();
  // What a library makes of an abort says less than why there was one.
  return silence.failure() ?? failure;
}

/**
 * A reply that was cut off, or that says nothing, is none: it throws. `ended` says that the provider ended it in order,
 * which may be all there is where no reason was given.
 */
export function requireWhole({ content, toolCalls, finishReason }: ModelReply, { ended }: { ended: boolean }): void {
  if (finishReason === null && (!ended || toolCalls.some(isHalf))) {
    throw connectionFailure('The model provider ended the reply before it was complete');
  }
  // An empty reply that a filter stopped is one: what becomes of it is decided elsewhere.
  const isEmpty = content.trim() === '' && toolCalls.length === 0;
  if (isEmpty && !isSafetyReason(finishReason)) throw emptyReplyFailure(finishReason);
}

function isHalf({ args }: RawToolCall): boolean {
  if (args.trim() === '') return false;
  try {
    JSON.parse(args);
    return false;
  } catch {
    return true;
  }
}

function createDeliver({ onDelta }: ModelRequest, silence: SilenceWatch): Attempt['deliver'] {
  return async (delta) => {
    if (delta === null) return;
    const alive = bringsContent(delta);
    if (alive) silence.pause();
    try {
      await onDelta?.(delta);
    } catch (error) {
      throw new ReaderError(error);
    }
    if (alive) silence.listen();
  };
}

function bringsContent({ content, toolCallChunks, additionalKwargs }: ReplyDelta): boolean {
  const calls = toolCallChunks.some(({ id, name, args }) => Boolean(id) || Boolean(name) || Boolean(args));
  return content !== '' || calls || Object.keys(additionalKwargs).length > 0;
}

interface SilenceWatch {
  readonly wait: Attempt['wait'];
  /** From now on, content is waited for. */
  listen(): void;
  pause(): void;
  failure(): unknown;
}

function watchSilence(stallTimeoutMs: number, onSilence: () => void): SilenceWatch {
  const stallMs = Math.min(stallTimeoutMs, LONGEST_TIMER_MS);
  const quietMs = Math.min(stallTimeoutMs * QUIET_STALL_TIMES, LONGEST_TIMER_MS);
  let failure: unknown;
  let quiet: NodeJS.Timeout | undefined;
  let giveUp: (reason: unknown) => void = () => undefined;
  const end = (reason: unknown): void => {
    failure ??= reason;
    giveUp(failure);
    onSilence();
  };

  return {
    async wait(promise) {
      const stall = setTimeout(() => end(stalledFailure(stallMs)), stallMs);
      try {
        return await new Promise((resolve, reject) => {
          giveUp = reject;
          promise.then(resolve, reject);
          if (failure !== undefined) giveUp(failure);
        });
      } finally {
        clearTimeout(stall);
      }
    },
    listen() {
      clearTimeout(quiet);
      quiet = setTimeout(() => end(contentlessFailure(quietMs)), quietMs);
    },
    pause: () => clearTimeout(quiet),
    failure: () => failure,
  };
}
