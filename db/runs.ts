import type { CancelAction } from '../contracts';
import type { Database, Queryable } from './database';
import { translateErrors } from './errors';
import type { StepCommit } from './message-log';
import { commitStep, isUuid } from './message-log';
import type { AdmissionRequest, AdmissionResult } from './run-admission';
import { admitRun } from './run-admission';
import type { EndedRun, LeftUndone, RunEnding } from './run-ending';
import { endRun, requestCancel } from './run-ending';
import type { RunRow } from './run-row';
import { RUN_COLUMNS } from './run-row';
import type { TokenTotals } from './token-totals';
import { readTokenTotals } from './token-totals';

/** What is settled for a run when it begins. */
export interface RunChoices {
  modelName: string | null;
  /** Of its stored configuration. */
  configHash: string | null;
}

export interface RunStore {
  get(owner: string, runId: string): Promise<RunRow | null>;
  /** For the worker, which acts for whoever owns the run. */
  load(runId: string): Promise<RunRow | null>;
  list(owner: string, threadId: string, options: { limit: number; offset: number; status?: string }): Promise<RunRow[]>;
  active(threadId: string): Promise<RunRow | null>;
  /** Decides whether a new run may have its thread; see `admitRun`. */
  admit(request: AdmissionRequest): Promise<AdmissionResult>;
  /**
   * Records the wish to cancel; the first action wins. `signal` says that the run's workflow must be told. Null where
   * there is no such run.
   */
  requestCancel(owner: string, runId: string, action: CancelAction): Promise<{ row: RunRow; signal: boolean } | null>;
  /** Marks the run as running with its first commit; false where an earlier attempt did. */
  begin(runId: string, commit: Omit<StepCommit, 'runId'>, chosen: RunChoices): Promise<boolean>;
  /** Writes the terminal status; see `endRun`. */
  end(runId: string, decide: (row: RunRow, left: LeftUndone) => RunEnding): Promise<EndedRun | null>;
  markWorkflowStarted(runId: string): Promise<void>;
  supersede(threadId: string, runId: string): Promise<void>;
  delete(owner: string, runId: string): Promise<boolean>;
  tokenTotals(threadId: string, includeActive: boolean): Promise<TokenTotals>;
  /** Runs whose workflow was never started, although `olderThanSeconds` have passed since they were admitted. */
  unstarted(olderThanSeconds: number, limit: number): Promise<RunRow[]>;
  /**
   * Runs that hold a thread and have not moved for a while: candidates for a look at their workflow. One that waits for
   * its time need not move, unless it was cancelled.
   */
  quiet(olderThanSeconds: number, limit: number): Promise<RunRow[]>;
}

export function createRunStore(database: Database): RunStore {
  const { pool } = database;
  const many = (client: Queryable, sql: string, parameters: unknown[]): Promise<RunRow[]> =>
    translateErrors(async () => (await client.query<RunRow>(sql, parameters)).rows);
  const first = async (client: Queryable, sql: string, parameters: unknown[]): Promise<RunRow | null> =>
    (await many(client, sql, parameters))[0] ?? null;

  return {
    get: async (owner, runId) =>
      isUuid(runId)
        ? first(pool, `select ${RUN_COLUMNS} from runs where run_id = $1 and owner = $2`, [runId, owner])
        : null,
    load: (runId) => first(pool, `select ${RUN_COLUMNS} from runs where run_id = $1`, [runId]),
    list: (owner, threadId, { limit, offset, status }) =>
      many(
        pool,
        `select ${RUN_COLUMNS} from runs where owner = $1 and thread_id = $2 and ($3::text is null or status = $3)
         order by ordinal desc limit $4 offset $5`,
        [owner, threadId, status ?? null, limit, offset],
      ),
    active: (threadId) =>
      first(pool, `select ${RUN_COLUMNS} from runs where thread_id = $1 and admission = 'active'`, [threadId]),
    admit: (request) => admitRun(database, request),
    requestCancel: async (owner, runId, action) =>
      isUuid(runId) ? requestCancel(database, owner, runId, action) : null,
    begin: (runId, commit, chosen) => beginRun(database, runId, commit, chosen),
    end: (runId, decide) => endRun(database, runId, decide),
    async markWorkflowStarted(runId) {
      await pool.query('update runs set workflow_started_at = coalesce(workflow_started_at, now()) where run_id = $1', [
        runId,
      ]);
    },
    async supersede(threadId, runId) {
      if (!isUuid(runId)) return;
      await pool.query('update runs set superseded = true where thread_id = $1 and run_id = $2', [threadId, runId]);
    },
    async delete(owner, runId) {
      // What a run that was replaced had said is hidden by its mark, which goes with the run.
      const { rowCount } = await pool.query(
        `with gone as (
           delete from runs where owner = $1 and run_id = $2 and admission = 'ended'
           returning run_id, thread_id, superseded),
         hidden as (
           delete from run_journal using gone
           where superseded and run_journal.thread_id = gone.thread_id and run_journal.run_id = gone.run_id)
         select 1 from gone`,
        [owner, runId],
      );
      return rowCount === 1;
    },
    tokenTotals: (threadId, includeActive) => readTokenTotals(pool, threadId, includeActive),
    unstarted: (olderThanSeconds, limit) =>
      many(
        pool,
        `select ${RUN_COLUMNS} from runs where admission = 'active' and workflow_started_at is null
           and updated_at < now() - make_interval(secs => $1) order by ordinal limit $2`,
        [olderThanSeconds, limit],
      ),
    quiet: (olderThanSeconds, limit) =>
      many(
        pool,
        `select ${RUN_COLUMNS} from runs where admission = 'active' and workflow_started_at is not null
           and case when cancel_action is null then greatest(updated_at, available_at) else updated_at end
             < now() - make_interval(secs => $1)
         order by updated_at limit $2`,
        [olderThanSeconds, limit],
      ),
  };
}

async function beginRun(
  database: Database,
  runId: string,
  commit: Omit<StepCommit, 'runId'>,
  { modelName, configHash }: RunChoices,
): Promise<boolean> {
  return translateErrors(() =>
    database.transaction(async (client) => {
      // The lock on the thread comes first, as everywhere.
      const { rowCount } = await client.query({
        name: 'begin-run',
        text: `with thread as materialized (select log_seq from threads where thread_id = $2 for no key update)
         update runs set status = 'running', started_at = clock_timestamp(), model_name = $3, config_hash = $4,
                base_watermark = coalesce((select log_seq from thread), 0),
                workflow_started_at = coalesce(workflow_started_at, now())
         where run_id = $1 and status = 'pending'`,
        values: [runId, commit.threadId, modelName, configHash],
      });
      if (rowCount !== 1) return false;
      await commitStep(client, { ...commit, runId });
      return true;
    }),
  );
}
