/** A reader of a run's stream that comes back with `Last-Event-ID` after every break, and writes down what it saw. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Slot } from '../cluster/slot';
import type { SeenFrame, SubscriberConnection, Subscription } from '../checker';

export interface Subscriber {
  subscription: Subscription;
  /** Resolves when the stream has ended in order, or the reader was told to give up. */
  finished: Promise<void>;
  readonly hasEnded: boolean;
  giveUp(): void;
}

export interface SubscriberOptions {
  threadId: string;
  runId: string;
  reader: string;
  modes: Subscription['modes'];
  /** Which API it turns to at each connection. */
  api: () => Slot;
  /** Hangs up of itself after so many frames, and comes back. */
  hangUpAfter?: () => number;
}

const PAUSE_MS = 300;

/** The APIs send a heartbeat every ten seconds: a longer silence means that the line is dead. */
const SILENCE_LIMIT_MS = 13_000;

export function subscribe(options: SubscriberOptions): Subscriber {
  const { runId, reader, modes } = options;
  const subscription: Subscription = { runId, reader, modes, connections: [] };
  const gaveUp = new AbortController();
  let ended = false;
  const finished = (async () => {
    while (!ended && !gaveUp.signal.aborted) {
      ended = await readOnce(options, subscription, gaveUp.signal).catch(() => false);
      if (!ended) await delay(PAUSE_MS, undefined, { signal: gaveUp.signal }).catch(() => undefined);
    }
  })();
  return {
    subscription,
    finished,
    get hasEnded() {
      return ended;
    },
    giveUp: () => gaveUp.abort(),
  };
}

/** One connection; true where the stream ended in order. */
async function readOnce(options: SubscriberOptions, subscription: Subscription, gaveUp: AbortSignal): Promise<boolean> {
  const api = options.api();
  const lastEventId = lastIdOf(subscription);
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENCE_LIMIT_MS);
  try {
    const response = await fetch(`${api.url}/api/threads/${options.threadId}/runs/${options.runId}/stream`, {
      headers: lastEventId === null ? {} : { 'last-event-id': lastEventId },
      signal: AbortSignal.any([silence.signal, gaveUp]),
    });
    if (response.status !== 200 || response.body === null) {
      await response.body?.cancel();
      return false;
    }
    const connection: SubscriberConnection = { api: api.name, lastEventId, frames: [] };
    subscription.connections.push(connection);
    const limit = options.hangUpAfter?.() ?? Infinity;
    const decoder = new TextDecoder();
    let pending = '';
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_LIMIT_MS);
      pending += decoder.decode(chunk, { stream: true });
      for (let end = pending.indexOf('\n\n'); end >= 0; end = pending.indexOf('\n\n')) {
        const block = pending.slice(0, end);
        pending = pending.slice(end + 2);
        if (block.startsWith(':')) continue;
        const frame = frameOf(block);
        connection.frames.push(frame);
        if (frame.event === 'end') return true;
        if (connection.frames.length >= limit) return false;
      }
    }
    return false;
  } finally {
    clearTimeout(timer);
    silence.abort();
  }
}

function lastIdOf({ connections }: Subscription): string | null {
  for (const { frames } of connections.toReversed()) {
    const id = frames.findLast((frame) => frame.id !== null)?.id;
    if (id !== undefined) return id;
  }
  return null;
}

function frameOf(block: string): SeenFrame {
  const field = (name: string): string | null => {
    const line = block.split('\n').find((candidate) => candidate.startsWith(`${name}: `));
    return line === undefined ? null : line.slice(name.length + 2);
  };
  return { event: field('event') ?? 'message', id: field('id'), data: field('data') ?? 'null' };
}
