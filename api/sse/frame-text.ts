/** The wire form of server-sent events. */

export const HEARTBEAT = ': heartbeat\n\n';

/** One frame. The data is JSON text on one line; `end` and `gap` have no id. */
export function frameText(event: string, data: string, id?: string): string {
  return `event: ${event}\ndata: ${data}\n${id === undefined ? '' : `id: ${id}\n`}\n`;
}

export interface EventId {
  at: number;
  number: number;
}

const EVENT_ID = /^(\d{1,15})-(\d{1,9})$/;

export function eventId({ at, number }: EventId): string {
  return `${at}-${number}`;
}

/** Null for what is no id of ours, `-1` included: the reader then gets everything. */
export function parseEventId(text: string | undefined): EventId | null {
  const match = EVENT_ID.exec(text?.trim() ?? '');
  return match === null ? null : { at: Number(match[1]), number: Number(match[2]) };
}

export interface Gap {
  runId: string;
  requested: string | null;
  earliest: string;
  latest: string;
}

/** Tells a reader that the log is gone and the thread's state is what is left. */
export function gapFrame({ runId, requested, earliest, latest }: Gap): string {
  const data = {
    code: 'stream_replay_gap',
    run_id: runId,
    requested_event_id: requested,
    earliest_available_event_id: earliest,
    latest_available_event_id: latest,
    recovery: 'reload_durable_state',
  };
  return frameText('gap', JSON.stringify(data));
}
