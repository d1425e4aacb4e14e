/** Makes runs that wait, and keeps account of them. */
import { randomUUID } from 'node:crypto';
import type { JsonObject, RunRecord } from '../../contracts';
import { ask } from '../../tests/support/product/client';
import type { BenchContext } from '../benchmark';
import type { System } from '../system';

export interface WaitingRun {
  threadId: string;
  runId: string;
}

export type WaitingKind = 'delayed' | 'interrupted';

/** What one run does: a file tool, and a reply of some words. */
const PLAN = 'PLAN:tools=1 tool=ls tokens=4';

/** Requests that are under way at once. */
const CLIENTS = 16;

/** Longer than any benchmark. */
const FAR_SECONDS = 86_400;

export function delayedBody(afterSeconds: number): JsonObject {
  return ask(PLAN, { if_not_exists: 'create', after_seconds: afterSeconds, stream_mode: ['values'] });
}

/** Does the work so often, a bounded number of times at once, and gives back the results in any order. */
export async function together<T>(
  count: number,
  clients: number,
  signal: AbortSignal,
  work: (place: number) => Promise<T>,
): Promise<T[]> {
  const results: T[] = [];
  const places = Array.from({ length: count }, (_, place) => place).values();
  const lane = async (): Promise<void> => {
    for (const place of places) {
      signal.throwIfAborted();
      results.push(await work(place));
    }
  };
  await Promise.all(Array.from({ length: Math.min(clients, count) }, lane));
  return results;
}

/** Creates waiting runs through the API. */
export function addWaiting(
  { signal }: BenchContext,
  system: System,
  kind: WaitingKind,
  count: number,
): Promise<WaitingRun[]> {
  return together(count, CLIENTS, signal, () =>
    kind === 'delayed' ? createDelayed(system) : createInterrupted(system),
  );
}

async function createDelayed({ api }: System): Promise<WaitingRun> {
  const threadId = randomUUID();
  const path = `/api/threads/${threadId}/runs`;
  const { status, body } = await api.request<RunRecord>('POST', path, delayedBody(FAR_SECONDS));
  if (status !== 200) throw new Error(`a delayed run was refused with status ${status}: ${JSON.stringify(body)}`);
  return { threadId, runId: body.run_id };
}

/** A run that has asked the model, and stops before the tool that the model wants until its user says go on. */
async function createInterrupted({ api }: System): Promise<WaitingRun> {
  const threadId = randomUUID();
  const request = ask(PLAN, { if_not_exists: 'create', interrupt_before: ['tools'], stream_mode: ['values'] });
  const { status, headers, body } = await api.request('POST', `/api/threads/${threadId}/runs/wait`, request);
  const runId = headers.get('content-location')?.split('/').at(-1);
  if (status !== 200 || runId === undefined) {
    throw new Error(`a run that is to be interrupted answered with status ${status}: ${JSON.stringify(body)}`);
  }
  return { threadId, runId };
}

/** How many runs wait, as the product itself has it. */
export async function countWaiting({ pool }: System): Promise<Record<WaitingKind, number>> {
  const { rows } = await pool.query<Record<WaitingKind, number>>(
    `select (select count(*)::int from runs where admission = 'active' and status = 'pending'
               and available_at > now() + interval '1 hour') as delayed,
            (select count(*)::int from threads where status = 'interrupted') as interrupted`,
  );
  return rows[0] ?? { delayed: 0, interrupted: 0 };
}
