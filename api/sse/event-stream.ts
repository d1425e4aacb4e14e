import { once } from 'node:events';
import type { Response } from 'express';
import { HEARTBEAT } from './frame-text';

export interface EventStream {
  /** Aborted when the reader is gone or this process stops. */
  readonly signal: AbortSignal;
  /** Writes text and waits while the reader is slower than we are. */
  write(text: string): Promise<void>;
  /**
   * Does the work that writes, and ends the answer. Where the work fails the connection breaks off, so that half an
   * answer does not look whole and the reader comes back; that is no hang-up of the reader.
   */
  complete(work: () => Promise<void>): Promise<void>;
}

export interface EventStreamOptions {
  heartbeatMs: number;
  shutdown: AbortSignal;
  /** Called when the reader hangs up before the end, but not when this process stops. */
  onHangUp?: () => void;
}

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-cache',
  Connection: 'keep-alive',
  'X-Accel-Buffering': 'no',
} as const;

/**
 * Begins an answer of server-sent events. Heartbeats come at a steady pace whether or not there is data: clients learn
 * the pace and take a long silence for a dead connection.
 */
export function openEventStream(response: Response, options: EventStreamOptions): EventStream {
  response.set(HEADERS);
  response.status(200);
  return keepAlive(response, HEARTBEAT, options);
}

/** Begins an answer that will take long; `beat` is what may be written to it meanwhile. */
export function keepAlive(response: Response, beat: string, options: EventStreamOptions): EventStream {
  const controller = new AbortController();
  response.flushHeaders();
  response.socket?.setNoDelay(true);

  const heartbeat = setInterval(() => {
    if (!response.writableNeedDrain && !response.writableEnded) response.write(beat);
  }, options.heartbeatMs);
  let brokenOff = false;
  const breakOff = (): void => {
    brokenOff = true;
    response.destroy();
  };
  options.shutdown.addEventListener('abort', breakOff);
  const closed = (): void => {
    clearInterval(heartbeat);
    options.shutdown.removeEventListener('abort', breakOff);
    controller.abort();
    if (!response.writableFinished && !response.writableEnded && !brokenOff) options.onHangUp?.();
  };
  if (options.shutdown.aborted) breakOff();
  if (response.destroyed) closed();
  else response.once('close', closed);

  return {
    signal: controller.signal,
    async write(text) {
      if (controller.signal.aborted || response.write(text)) return;
      await once(response, 'drain', { signal: controller.signal }).catch(() => undefined);
    },
    async complete(work) {
      try {
        await work();
      } catch (error) {
        breakOff();
        throw error;
      }
      clearInterval(heartbeat);
      if (!controller.signal.aborted) response.end();
    },
  };
}
