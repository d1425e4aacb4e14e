import type { PoolClient } from 'pg';
import type { CancelAction, RunError, RunStatus, StopReason } from '../contracts';
import { ROLLED_BACK_ERROR, statusAfterCancel } from '../core/run-status';
import type { Database, Queryable } from './database';
import { translateErrors } from './errors';
import type { StepCommit } from './message-log';
import { commitStep, isUuid } from './message-log';
import type { RunRow } from './run-row';
import { RUN_COLUMNS } from './run-row';
import type { PlannedCall } from './tool-ledger';

export interface RunEnding {
  status: RunStatus;
  error: RunError | null;
  stopReason: StopReason | null;
  /** Returns the thread to what it was before the run. */
  rollback: boolean;
  threadStatus: 'idle' | 'interrupted' | 'error';
  commit: Omit<StepCommit, 'threadId' | 'runId' | 'restore'>;
}

export interface EndedRun {
  row: RunRow;
  /** False where an earlier attempt had ended it. */
  endedNow: boolean;
  /** The run that has the thread now and whose workflow is not started yet. */
  next: RunRow | null;
}

/**
 * Locks the thread, then the run: the order that every transaction keeps. Not `for update`: events are added under the
 * lock of the stream alone and refer to the run, so that lock would wait for them while they wait for it.
 */
async function lockRun(client: PoolClient, runId: string): Promise<RunRow | null> {
  await client.query(
    'select 1 from threads where thread_id = (select thread_id from runs where run_id = $1) for no key update',
    [runId],
  );
  const { rows } = await client.query<RunRow>(`select ${RUN_COLUMNS} from runs where run_id = $1 for no key update`, [
    runId,
  ]);
  return rows[0] ?? null;
}

/** What a run leaves undone, read under the lock: a call of the model that was given up may still have had its reply. */
export interface LeftUndone {
  calls: PlannedCall[];
  /** Number of the thread's newest step. */
  step: number;
}

/**
 * Writes a run's terminal status: the only place that does. `decide` sees the locked row, so a cancel that was accepted
 * first is never lost. Repeating it changes nothing.
 */
export async function endRun(
  database: Database,
  runId: string,
  decide: (row: RunRow, left: LeftUndone) => RunEnding,
): Promise<EndedRun | null> {
  return translateErrors(() =>
    database.transaction(async (client) => {
      const row = await lockRun(client, runId);
      if (row === null) return null;
      if (row.admission === 'ended') return { row, endedNow: false, next: await unstartedRun(client, row.threadId) };
      const ended = await writeEnding(client, row, decide(row, await leftUndone(client, row)));
      const next = ended.promoted ? await unstartedRun(client, row.threadId) : null;
      return { row: ended.row, endedNow: true, next };
    }),
  );
}

async function leftUndone(client: Queryable, { runId, threadId }: RunRow): Promise<LeftUndone> {
  const { rows } = await client.query<{ step: number | null; calls: PlannedCall[] }>({
    name: 'left-undone',
    text: `select (select step from checkpoints where thread_id = $2 order by watermark desc limit 1) as step,
       (select coalesce(json_agg(json_build_object('turn', turn, 'toolCallId', tool_call_id, 'name', name)
          order by turn, place), '[]') from tool_calls where run_id = $1 and state <> 'done') as calls`,
    values: [runId, threadId],
  });
  return { calls: rows[0]?.calls ?? [], step: rows[0]?.step ?? -1 };
}

/** Ends a run that has not begun, as its canceller asked. */
export async function endUnstartedRun(client: PoolClient, row: RunRow, action: CancelAction): Promise<void> {
  await writeEnding(client, row, {
    status: statusAfterCancel(action),
    error: action === 'rollback' ? ROLLED_BACK_ERROR : null,
    stopReason: null,
    rollback: false,
    threadStatus: 'idle',
    commit: { events: [{ kind: 'run-end', payload: {} }] },
  });
}

/** Records the wish to cancel; the first action wins. A run that only waits for its thread ends at once. */
export async function requestCancel(
  database: Database,
  owner: string,
  runId: string,
  action: CancelAction,
): Promise<{ row: RunRow; signal: boolean } | null> {
  return translateErrors(() =>
    database.transaction(async (client) => {
      const row = await lockRun(client, runId);
      if (row === null || row.owner !== owner) return null;
      if (row.admission === 'ended') return { row, signal: false };
      if (row.admission === 'queued') {
        await endUnstartedRun(client, row, action);
        return { row: { ...row, admission: 'ended', status: statusAfterCancel(action) }, signal: false };
      }
      await client.query(
        'update runs set cancel_action = coalesce(cancel_action, $2), updated_at = now() where run_id = $1',
        [runId, action],
      );
      return { row: { ...row, cancelAction: row.cancelAction ?? action }, signal: true };
    }),
  );
}

interface Written {
  row: RunRow;
  /** Whether the thread has gone to a run that waited for it. */
  promoted: boolean;
}

async function writeEnding(client: PoolClient, row: RunRow, ending: RunEnding): Promise<Written> {
  const restore = ending.rollback && row.baseWatermark !== null ? row.baseWatermark : undefined;
  const { seq } = await commitStep(client, { ...ending.commit, threadId: row.threadId, runId: row.runId, restore });
  if (restore !== undefined || row.baseWatermark === null) await reinstateReplaced(client, row);
  const { rows } = await client.query<RunRow>(
    `with closed as (update run_streams set closed = true where run_id = $1),
          opened as (delete from run_secrets where run_id = $1)
     update runs set status = $2, admission = 'ended', error = $3, stop_reason = $4, ended_at = now(), updated_at = now(),
            end_watermark = $5, superseded = superseded or $6
     where run_id = $1 returning ${RUN_COLUMNS}`,
    [
      row.runId,
      ending.status,
      ending.error === null ? null : JSON.stringify(ending.error),
      ending.stopReason,
      seq,
      restore !== undefined,
    ],
  );
  const promoted = row.admission === 'active' ? await promoteNext(client, row.threadId) : false;
  if (row.admission === 'active') {
    await client.query('update threads set status = $2, updated_at = now() where thread_id = $1', [
      row.threadId,
      promoted ? 'busy' : ending.threadStatus,
    ]);
  }
  return { row: rows[0] ?? row, promoted };
}

/** The turn that a replay took the place of is back where nothing of the replay stays. */
async function reinstateReplaced(client: Queryable, { threadId, metadata }: RunRow): Promise<void> {
  const replaced = metadata['regenerate_from_run_id'];
  if (typeof replaced !== 'string' || !isUuid(replaced)) return;
  await client.query('update runs set superseded = false where run_id = $1 and thread_id = $2', [replaced, threadId]);
}

async function promoteNext(client: Queryable, threadId: string): Promise<boolean> {
  const { rowCount } = await client.query(
    `update runs set admission = 'active', updated_at = now()
     where run_id = (select run_id from runs where thread_id = $1 and admission = 'queued' order by ordinal limit 1)`,
    [threadId],
  );
  return rowCount === 1;
}

async function unstartedRun(client: Queryable, threadId: string): Promise<RunRow | null> {
  const { rows } = await client.query<RunRow>(
    `select ${RUN_COLUMNS} from runs where thread_id = $1 and admission = 'active' and workflow_started_at is null`,
    [threadId],
  );
  return rows[0] ?? null;
}
