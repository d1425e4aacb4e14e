import type { ClientRequest } from 'node:http';
import { get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { createFrameSplitter, parseId, stampedTokens } from './frames';
import type { StreamFrame } from './frames';
import type { ReaderReport, ReadRequest } from './protocol';

export interface ReaderOptions {
  request: Pick<ReadRequest, 'urls' | 'path' | 'cutAfterMs'>;
  /** Its place among the readers, which says where it connects first. */
  place: number;
  unsteady: boolean;
  onFirstFrame: () => void;
}

/** A server that refuses is not asked again at once, or the asking would become the load. */
const PAUSE_AFTER_REFUSAL_MS = 100;
const MOST_REFUSALS = 50;

/**
 * One reader of a stream, from its beginning to its end. Whenever its connection is gone it comes back at once, to the
 * next API, with the id of the last frame that it has; an unsteady reader cuts its connection itself.
 */
export async function readStream({ request, place, unsteady, onFirstFrame }: ReaderOptions): Promise<ReaderReport> {
  const report: ReaderReport = {
    unsteady,
    reconnects: 0,
    broken: 0,
    numbers: [],
    eventLags: [],
    tokens: [],
    tokenLags: [],
    ended: false,
  };
  let lastId: string | null = null;
  let since = Number.POSITIVE_INFINITY;
  const take = (frame: StreamFrame, arrivedAt: number): void => {
    if (since > arrivedAt) {
      since = arrivedAt;
      onFirstFrame();
    }
    if (frame.event === 'end') report.ended = true;
    if (frame.id === null) return;
    lastId = frame.id;
    const { at, number } = parseId(frame.id);
    report.numbers.push(number);
    // What was there before the reader came is no news.
    if (at >= since) report.eventLags.push(arrivedAt - at);
    if (frame.event !== 'messages') return;
    for (const token of stampedTokens(frame.data)) {
      report.tokens.push(token.number);
      report.tokenLags.push(arrivedAt - token.sentAt);
    }
  };

  for (let connection = place; ; connection += 1) {
    const url = `${request.urls[connection % request.urls.length] ?? ''}${request.path}`;
    const closed = await readConnection({
      url,
      lastId,
      cutAfterMs: unsteady ? randomBetween(request.cutAfterMs) : null,
      take,
      isEnded: () => report.ended,
    });
    if (report.ended) return report;
    if (closed !== 'cut') report.broken += 1;
    if (report.broken > MOST_REFUSALS) return report;
    if (closed === 'refused') await delay(PAUSE_AFTER_REFUSAL_MS);
    report.reconnects += 1;
  }
}

function randomBetween([shortest, longest]: [number, number]): number {
  return shortest + Math.random() * (longest - shortest);
}

interface ConnectionOptions {
  url: string;
  lastId: string | null;
  /** Time after which this side cuts the connection; null leaves it. */
  cutAfterMs: number | null;
  take: (frame: StreamFrame, arrivedAt: number) => void;
  isEnded: () => boolean;
}

/** Reads one connection until it is gone, whoever ended it. */
function readConnection(options: ConnectionOptions): Promise<'cut' | 'broken' | 'refused'> {
  const { url, lastId, cutAfterMs, take, isEnded } = options;
  return new Promise((resolve) => {
    let state: 'cut' | 'broken' | 'refused' = 'broken';
    let timer: NodeJS.Timeout | undefined;
    const headers = lastId === null ? {} : { 'last-event-id': lastId };
    const finish = (request: ClientRequest): void => {
      clearTimeout(timer);
      request.destroy();
      resolve(state);
    };
    // No agent: every reader has a connection of its own.
    const request = get(url, { agent: false, headers }, (response) => {
      if (response.statusCode !== 200) state = 'refused';
      const splitter = createFrameSplitter();
      response.setEncoding('utf8');
      response.on('data', (text: string) => {
        if (state !== 'broken') return;
        const arrivedAt = Date.now();
        for (const frame of splitter.push(text)) take(frame, arrivedAt);
        if (isEnded()) finish(request);
      });
      response.on('error', () => undefined);
      response.on('close', () => finish(request));
    });
    request.on('error', () => finish(request));
    if (cutAfterMs !== null) {
      timer = setTimeout(() => {
        state = 'cut';
        finish(request);
      }, cutAfterMs);
    }
  });
}
