import type { Pool } from 'pg';
import type { Frame } from './client';

interface RunFacts {
  status: string;
  admission: string;
  llm_call_count: number;
  total_tokens: number;
}

/**
 * What must hold for a run whatever died on its way: one terminal status, an event sequence without gaps that ends in
 * one `run-end`, every ledger row done or answered, and totals that equal the sum of the stored replies.
 */
export async function expectSoundRun(pool: Pool, runId: string): Promise<RunFacts> {
  const { rows } = await pool.query<RunFacts>(
    'select status, admission, llm_call_count, total_tokens::int from runs where run_id = $1',
    [runId],
  );
  const run = rows[0];
  if (run === undefined) throw new Error(`run ${runId} is not stored`);
  expect(run.admission).toBe('ended');
  expect(['success', 'error', 'interrupted']).toContain(run.status);

  const { rows: events } = await pool.query<{ number: number; kind: string }>(
    'select number, kind from run_events where run_id = $1 order by number',
    [runId],
  );
  expect(events.map((event) => event.number)).toEqual(events.map((_, index) => index));
  expect(events[0]?.kind).toBe('run-start');
  expect(events.filter((event) => event.kind === 'run-end')).toHaveLength(1);
  expect(events.at(-1)?.kind).toBe('run-end');

  const { rows: sums } = await pool.query<{ tokens: number; replies: number }>(
    `select coalesce(sum((body -> 'usage_metadata' ->> 'total_tokens')::int), 0)::int as tokens, count(*)::int as replies
     from thread_messages where run_id = $1 and body ->> 'type' = 'ai'
       and body -> 'additional_kwargs' ->> 'deerflow_error_fallback' is null`,
    [runId],
  );
  expect(sums[0]).toEqual({ tokens: run.total_tokens, replies: run.llm_call_count });

  const { rows: journal } = await pool.query<{ event_type: string; count: number }>(
    `select event_type, count(*)::int from run_journal where run_id = $1
       and event_type in ('run.start', 'run.end', 'run.error', 'run.delivery') group by event_type`,
    [runId],
  );
  const counts = Object.fromEntries(journal.map((row) => [row.event_type, row.count]));
  expect((counts['run.end'] ?? 0) + (counts['run.error'] ?? 0)).toBe(1);
  expect(counts['run.delivery']).toBe(1);
  return run;
}

/** Ids of a stream strictly increase, and a resumed stream neither repeats nor skips. */
export function expectIncreasing(frames: readonly Frame[]): void {
  const numbers = frames.flatMap((frame) => (frame.id === null ? [] : [Number(frame.id.split('-')[1])]));
  expect(numbers).toEqual([...new Set(numbers)].sort((left, right) => left - right));
}
