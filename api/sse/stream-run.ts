import type { Response } from 'express';
import type { StreamMode } from '../../contracts';
import type { RunRow } from '../../db';
import type { ApiDependencies } from '../dependencies';
import type { EventStream } from './event-stream';
import { openEventStream } from './event-stream';
import { eventId, frameText, gapFrame, parseEventId } from './frame-text';
import { frameRenderer } from './frames';

export interface StreamRunOptions {
  run: RunRow;
  modes: readonly StreamMode[];
  /** The reader has everything up to this id. */
  lastEventId?: string;
  /** What to do when the reader hangs up before the end. */
  onHangUp?: () => void;
  /** Says that the log is gone, instead of ending at once, where a finished run has no events any more. */
  gapWhenPruned?: boolean;
}

/** Frames that come together are written together, in pieces of about this many characters. */
const WRITTEN_AT_ONCE = 65_536;

/** Longest time without events after which the run's row is asked whether it has ended. */
const DOUBT_MS = 15_000;

/** Sends a run's events from the reader's place on until the run's end, however long that takes. */
export async function streamRun(deps: ApiDependencies, response: Response, options: StreamRunOptions): Promise<void> {
  const { run } = options;
  const after = await readerPosition(deps, run.runId, options.lastEventId);
  const last = run.admission === 'ended' ? await deps.stores.events.lastNumber(run.runId) : Infinity;
  const stream = openEventStream(response, {
    heartbeatMs: deps.settings.heartbeatMs,
    shutdown: deps.shutdown,
    ...(options.onHangUp === undefined ? {} : { onHangUp: options.onHangUp }),
  });
  await stream.complete(async () => {
    if (last > after) return follow(deps, stream, options, after);
    const gap = last < 0 && options.gapWhenPruned === true;
    await stream.write(gap ? prunedGap(run, options.lastEventId) : frameText('end', 'null'));
  });
}

async function readerPosition(deps: ApiDependencies, runId: string, lastEventId?: string): Promise<number> {
  const id = parseEventId(lastEventId);
  return id === null ? -1 : deps.stores.events.position(runId, id.at, id.number);
}

async function follow(
  deps: ApiDependencies,
  stream: EventStream,
  { run, modes }: StreamRunOptions,
  after: number,
): Promise<void> {
  const render = frameRenderer(run, modes, deps.feeds.sources);
  const reader = await deps.feeds.open(run.runId, after);
  let sent = after;
  try {
    while (!stream.signal.aborted) {
      const events = await reader.next(stream.signal, DOUBT_MS);
      let text = '';
      for (const event of events) {
        text += (await render(event)) ?? '';
        if (text.length >= WRITTEN_AT_ONCE) {
          await stream.write(text);
          text = '';
        }
        if (stream.signal.aborted) return;
      }
      if (text !== '') await stream.write(text);
      if (events.at(-1)?.kind === 'run-end') return;
      sent = events.at(-1)?.number ?? sent;
      if (events.length === 0 && (await isOver(deps, run.runId, sent))) {
        await stream.write(frameText('end', 'null'));
        return;
      }
    }
  } finally {
    reader.close();
  }
}

/**
 * Whether nothing will come any more: the run was deleted, or it ended and its log was pruned meanwhile. A run may have
 * ended since its events were last read: those of an ended run are all there, and what was not sent yet still comes.
 */
async function isOver({ stores }: ApiDependencies, runId: string, sent: number): Promise<boolean> {
  try {
    const row = await stores.runs.load(runId);
    if (row !== null && row.admission !== 'ended') return false;
    return (await stores.events.lastNumber(runId)) <= sent;
  } catch {
    return false;
  }
}

/** The ids are where the log would have begun and ended: the web UI takes no nulls. */
function prunedGap(run: RunRow, lastEventId: string | undefined): string {
  return gapFrame({
    runId: run.runId,
    requested: lastEventId ?? null,
    earliest: eventId({ at: Date.parse(run.createdAt), number: 0 }),
    latest: eventId({ at: Date.parse(run.endedAt ?? run.updatedAt), number: 0 }),
  });
}
