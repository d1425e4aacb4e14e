/** Ends the waiting of single runs and times what follows. */
import type { JsonValue } from '../../contracts';
import type { Frame } from '../../tests/support/product/client';
import type { System } from '../system';
import { delayedBody } from './crowd';
import type { WaitingRun } from './crowd';

export interface Woken {
  /** Milliseconds to the first event of any kind, to the first that the worker wrote, and to the end. */
  firstMs: number;
  ownMs: number;
  endMs: number;
}

/** The user says go on: a new run takes up the waiting step, calls the tool and asks the model again. */
export function resume(system: System, { threadId }: WaitingRun): Promise<Woken> {
  const body = {
    assistant_id: 'lead_agent',
    input: null,
    command: { resume: 'go on' },
    stream_mode: ['values'],
  };
  return follow(system, { path: `/api/threads/${threadId}/runs/stream`, body, since: Date.now() });
}

/** The user stops a run that waits for its time. */
export function cancel(system: System, { threadId, runId }: WaitingRun): Promise<Woken> {
  return follow(system, {
    path: `/api/threads/${threadId}/runs/${runId}/stream?action=interrupt`,
    body: {},
    since: Date.now(),
  });
}

/** A run whose time comes soon; timed from that moment on. */
export async function becomeDue(system: System, threadId: string, afterSeconds: number): Promise<Woken> {
  let runId = '';
  const woken = await follow(system, {
    path: `/api/threads/${threadId}/runs/stream`,
    body: delayedBody(afterSeconds),
    since: 0,
    onFirst: ({ data }) => {
      runId = (data as { run_id: string }).run_id;
    },
  });
  const { rows } = await system.pool.query<{ due: number }>(
    'select extract(epoch from available_at)::float8 * 1000 as due from runs where run_id = $1',
    [runId],
  );
  const due = rows[0]?.due ?? Number.NaN;
  return { firstMs: woken.firstMs - due, ownMs: woken.ownMs - due, endMs: woken.endMs - due };
}

interface FollowOptions {
  path: string;
  body: JsonValue;
  /** Milliseconds since the epoch. */
  since: number;
  onFirst?: (frame: Frame) => void;
}

async function follow(system: System, { path, body, since, onFirst }: FollowOptions): Promise<Woken> {
  const arrivals: number[] = [];
  const { status, frames } = await system.api.stream({
    path,
    body,
    until: (frame) => {
      if (arrivals.length === 0) onFirst?.(frame);
      arrivals.push(Date.now() - since);
      return frame.event === 'end';
    },
  });
  const last = frames.at(-1);
  if (status !== 200 || last?.event !== 'end' || frames.some(({ event }) => event === 'error')) {
    throw new Error(`a run that was woken answered ${status}, last ${JSON.stringify(last)}`);
  }
  // The first event is the API's own: it says that the run was accepted.
  return { firstMs: arrivals[0] ?? Number.NaN, ownMs: arrivals[1] ?? Number.NaN, endMs: arrivals.at(-1) ?? Number.NaN };
}
