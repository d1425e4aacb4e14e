/** Starts a run and yields its frames to the end, over any number of broken connections. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { AppError, isAppError, type JsonObject } from '../../contracts';
import { readFrames, type StreamFrame } from './event-stream';
import type { Gateway } from './gateway';

export interface FollowOptions {
  threadId: string;
  body: JsonObject;
  signal: AbortSignal;
  onRun(runId: string): void;
  /** The connection broke; the next attempt follows. */
  onBreak(): void;
  retryDelaysMs?: readonly number[];
}

/** A restart of the API takes seconds, one of the machine a minute. */
const RETRY_DELAYS_MS = [200, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000];

/** Ends after the frame `end`, or after `gap`: then the rest is no longer kept, and the thread's state has it. */
export async function* followRun(gateway: Gateway, options: FollowOptions): AsyncGenerator<StreamFrame> {
  const { threadId, signal } = options;
  const delays = options.retryDelaysMs ?? RETRY_DELAYS_MS;
  const key = randomUUID();
  let runId: string | undefined;
  let lastEventId: string | undefined;
  let failures = 0;
  for (;;) {
    try {
      const response: Response =
        runId === undefined
          ? await gateway.startRun(threadId, options.body, { key, signal })
          : await gateway.joinRun({ threadId, runId, lastEventId, signal });
      runId ??= announceRun(response, options);
      for await (const frame of readFrames(bodyOf(response))) {
        failures = 0;
        lastEventId = frame.id ?? lastEventId;
        yield frame;
        if (frame.event === 'end' || frame.event === 'gap') return;
      }
    } catch (error) {
      signal.throwIfAborted();
      // A refusal is an answer; only what a moment may cure is tried again.
      if (isAppError(error) && !error.retryable) throw error;
    }
    const wait = delays[failures];
    if (wait === undefined) throw new AppError('unavailable', 'The connection broke and did not come back.');
    failures += 1;
    options.onBreak();
    await delay(wait, undefined, { signal });
  }
}

function announceRun(response: Response, options: FollowOptions): string {
  const runId = /\/runs\/([^/?]+)/.exec(response.headers.get('content-location') ?? '')?.[1];
  if (runId === undefined) throw new AppError('bad_request', 'The API did not say which run it started.');
  options.onRun(runId);
  return runId;
}

function bodyOf(response: Response): AsyncIterable<Uint8Array> {
  if (!response.body) throw new AppError('unavailable', 'The API sent an empty stream.');
  return response.body;
}
