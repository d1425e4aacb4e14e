import { setTimeout as delay } from 'node:timers/promises';
import type { RunEvent } from '../../contracts';
import type { Listener, Stores } from '../../db';
import type { Logger } from '../../observability';
import type { FrameSources } from './frames';
import { RunFeed } from './run-feed';
import { createStateTexts } from './state-texts';

/** Follows the events of one run from a number on. */
export interface RunEventReader {
  /** The next events, in order and without gaps; empty when the time is over or the signal is aborted first. */
  next(signal: AbortSignal, timeoutMs: number): Promise<RunEvent[]>;
  close(): void;
}

export interface RunFeeds {
  /** @param after Number of the last event that the reader has; -1 for none. */
  open(runId: string, after: number): Promise<RunEventReader>;
  /** States and checkpoints as frames show them, shared by all readers. */
  readonly sources: FrameSources;
  close(): void;
}

export interface RunFeedOptions {
  stores: Pick<Stores, 'events' | 'log' | 'runs'>;
  listener: Listener;
  log?: Logger;
  /** A lost notification is made up for after this time. */
  pollMs?: number;
}

const POLL_MS = 2_000;

/**
 * Readers of runs in one process. However many read a run, its log is read once as it grows; a reader that falls behind
 * reads for itself, so nobody loses anything and memory does not grow with slow readers.
 */
export function createRunFeeds({ stores, listener, log, pollMs = POLL_MS }: RunFeedOptions): RunFeeds {
  const feeds = new Map<string, RunFeed>();
  const wakeAll = (): void => feeds.forEach((feed) => feed.wake());
  const unsubscribe = listener.subscribe((payload) => {
    if (payload === null) wakeAll();
    else feeds.get(payload)?.wake();
  });
  const poll = setInterval(wakeAll, pollMs);
  poll.unref();

  /** The reader is counted before anything is awaited, or another one that leaves would close the feed under it. */
  async function enter(runId: string): Promise<RunFeed> {
    const position = feeds.has(runId) ? -1 : await stores.events.lastNumber(runId);
    const feed = feeds.get(runId) ?? newFeed(runId, position);
    feed.readers += 1;
    return feed;
  }

  function newFeed(runId: string, position: number): RunFeed {
    const feed = new RunFeed(runId, stores.events, position, (error) => {
      log?.warn({ err: error, runId }, 'the events of a run could not be read; trying again');
    });
    feeds.set(runId, feed);
    // What came between the question for the position and this line has had its notification already.
    feed.wake();
    return feed;
  }

  /** While the database is away the reader waits: its connection outlives that. */
  async function readAfter(feed: RunFeed, cursor: number, signal: AbortSignal): Promise<RunEvent[]> {
    try {
      return await feed.after(cursor);
    } catch (error) {
      log?.warn({ err: error }, 'the events of a run could not be read; trying again');
      await delay(pollMs, undefined, { signal }).catch(() => undefined);
      return [];
    }
  }

  return {
    sources: createStateTexts(stores),
    async open(runId, after) {
      const feed = await enter(runId);
      let cursor = after;
      let closed = false;
      return {
        async next(signal, timeoutMs) {
          const deadline = Date.now() + timeoutMs;
          while (!signal.aborted && Date.now() < deadline) {
            const events = await readAfter(feed, cursor, signal);
            if (events.length > 0) {
              cursor = events.at(-1)?.number ?? cursor;
              return events;
            }
            await feed.changed(cursor, signal, deadline - Date.now());
          }
          return [];
        },
        close() {
          if (closed) return;
          closed = true;
          feed.readers -= 1;
          if (feed.readers === 0 && feeds.get(runId) === feed) feeds.delete(runId);
        },
      };
    },
    close() {
      clearInterval(poll);
      unsubscribe();
    },
  };
}
