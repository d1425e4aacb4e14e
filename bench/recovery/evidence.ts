/** Collects what a run left behind: in the database, in its files, at its subscriber and at the model. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { APPENDED } from '../../tests/support/fake-model/plan';
import { commitTimes } from '../flatness';
import type { RefereeCounts } from '../referee';
import type { System } from '../system';
import type { RunInFlight } from './flow';
import type { Effect, RunEvidence } from './soundness';

export async function evidenceOf(
  system: System,
  run: RunInFlight,
  { askedAt }: Pick<RefereeCounts, 'askedAt'>,
): Promise<RunEvidence> {
  const { plan, events, runId } = run;
  const stored = runId === null ? NOTHING : await storedOf(system.pool, runId);
  return {
    tag: plan.tag,
    turns: plan.turns,
    ...stored,
    seenNumbers: events.flatMap(({ number }) => (number === null ? [] : [number])),
    seenEnd: run.ended && events.at(-1)?.number === null,
    committedAt: runId === null ? [] : await commitTimes(system.pool, runId),
    askedAt: askedAt[plan.tag] ?? [],
    effects: await effectsOf(system, run),
  };
}

type Stored = Pick<RunEvidence, 'status' | 'storedNumbers' | 'runEnds'>;

const NOTHING: Stored = { status: null, storedNumbers: [], runEnds: 0 };

async function storedOf(pool: Pool, runId: string): Promise<Stored> {
  const { rows } = await pool.query<Stored>(
    `select r.status,
       array(select number from run_events e where e.run_id = r.run_id order by number) as "storedNumbers",
       (select count(*)::int from run_events e where e.run_id = r.run_id and kind = 'run-end') as "runEnds"
     from runs r where r.run_id = $1`,
    [runId],
  );
  return rows[0] ?? NOTHING;
}

async function effectsOf({ home, pool }: System, { plan, runId, threadId }: RunInFlight): Promise<Effect[]> {
  if (plan.effectTurns.length === 0) return [];
  const file = join(home, 'users/default/threads', threadId, 'user-data/workspace', APPENDED);
  const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n');
  const { rows } = await pool.query<{ turn: number }>(
    `select c.turn from tool_calls c
       join runs r using (run_id)
       join thread_messages m on m.thread_id = r.thread_id and m.body ->> 'tool_call_id' = c.tool_call_id
     where c.run_id = $1 and m.body ->> 'content' like '%outcome is unknown%'`,
    [runId],
  );
  const unknown = new Set(rows.map(({ turn }) => turn));
  return plan.effectTurns.map((turn) => ({
    turn,
    count: lines.filter((line) => line === `${plan.tag}-${turn}`).length,
    unknown: unknown.has(turn),
  }));
}
