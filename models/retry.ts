/** When and how often a model call is tried again. The policy is pure; `callWithRetries` only waits and counts. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../contracts/schemas/config';
import { AppError } from '../contracts';
import type { ChatModel, ModelFailureDetail, ModelReply, ModelRequest } from './chat-model';
import { clientFailure, failureDetail, LONGEST_PROVIDER_WAIT_MS } from './failure';

export type RetrySettings = Pick<
  Config['llm_call'],
  'retry_max_attempts' | 'retry_base_delay_ms' | 'retry_cap_delay_ms' | 'burst_retry_base_delay_ms'
>;

/** The client-visible notice that goes out before each further attempt. */
export interface RetryNotice {
  type: 'llm_retry';
  /** Number of the attempt that failed. */
  attempt: number;
  max_attempts: number;
  wait_ms: number;
  reason: string;
  message: string;
}

/** More than two attempts against a bursting or silent provider only make its trouble, or the user's wait, longer. */
const MAX_ATTEMPTS_BURST_OR_STALLED = 2;

/** Attempts in all that a failure of this kind is worth. */
export function maxAttempts(error: unknown, settings: RetrySettings): number {
  const detail = failureDetail(error);
  if (detail === null || !(error instanceof AppError) || !error.retryable) return 1;
  const few = detail.reason === 'burst' || detail.reason === 'stalled';
  return few ? Math.min(MAX_ATTEMPTS_BURST_OR_STALLED, settings.retry_max_attempts) : settings.retry_max_attempts;
}

export interface NextDelayInput {
  /** Number of the attempt that failed, from 1. */
  attempt: number;
  error: unknown;
  settings: RetrySettings;
  /** From 0 (inclusive) to 1, as `Math.random`. */
  random: () => number;
  /** The wait before the attempt that failed. */
  previousDelayMs?: number;
}

/** Milliseconds to wait before the next attempt, or null where there is none. */
export function nextDelay({ attempt, error, settings, random, previousDelayMs }: NextDelayInput): number | null {
  const detail = failureDetail(error);
  if (detail === null || attempt >= maxAttempts(error, settings)) return null;
  if (detail.retryAfterMs !== undefined) {
    return detail.retryAfterMs > LONGEST_PROVIDER_WAIT_MS ? null : Math.ceil(detail.retryAfterMs);
  }
  const base = detail.reason === 'burst' ? settings.burst_retry_base_delay_ms : settings.retry_base_delay_ms;
  // Decorrelated jitter: clients that failed together do not come back together.
  const top = Math.min(Math.max(base, settings.retry_cap_delay_ms), Math.max(base, (previousDelayMs ?? base) * 3));
  return Math.round(base + random() * (top - base));
}

export interface CallWithRetriesOptions {
  model: ChatModel;
  /** The request, or one per attempt: the parts of a failed attempt are superseded by those of the next. */
  request: ModelRequest | ((attempt: number) => ModelRequest);
  settings: RetrySettings;
  /** Awaited before the wait begins. */
  onRetry?: (notice: RetryNotice, error: AppError) => void | Promise<void>;
  /** Must reject when the signal is aborted. */
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  random?: () => number;
  /** Where an earlier process had made attempts already, the number of the first one here. */
  firstAttempt?: number;
}

export async function callWithRetries(options: CallWithRetriesOptions): Promise<ModelReply> {
  const { model, settings, onRetry, sleep = abortableSleep, random = Math.random } = options;
  let previousDelayMs: number | undefined;
  for (let attempt = options.firstAttempt ?? 1; ; attempt += 1) {
    const request = typeof options.request === 'function' ? options.request(attempt) : options.request;
    try {
      return await model.reply(request);
    } catch (error) {
      request.signal.throwIfAborted();
      const waitMs = nextDelay({ attempt, error, settings, random, previousDelayMs });
      if (waitMs === null || !(error instanceof AppError)) throw error;
      await onRetry?.(retryNotice({ attempt, error, settings, waitMs }), error);
      await sleep(waitMs, request.signal);
      previousDelayMs = waitMs;
    }
  }
}

/** Waits, or rejects with the signal's own reason. */
export async function abortableSleep(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}

interface RetryNoticeInput {
  attempt: number;
  error: AppError;
  settings: RetrySettings;
  waitMs: number;
}

function retryNotice({ attempt, error, settings, waitMs }: RetryNoticeInput): RetryNotice {
  const max = maxAttempts(error, settings);
  const { reason } = clientFailure(error);
  const explanation = reason === 'busy' ? 'provider is busy' : explain(failureDetail(error)?.reason);
  return {
    type: 'llm_retry',
    attempt,
    max_attempts: max,
    wait_ms: waitMs,
    reason,
    message: `LLM request retry ${attempt}/${max}: ${explanation}. Retrying in ${Math.ceil(waitMs / 1000)}s.`,
  };
}

function explain(reason: ModelFailureDetail['reason'] | undefined): string {
  if (reason === 'burst') return 'provider limits a sudden rise of requests';
  if (reason === 'stalled') return 'model stopped responding';
  if (reason === 'empty') return 'model sent an empty reply';
  return 'provider request failed temporarily';
}
