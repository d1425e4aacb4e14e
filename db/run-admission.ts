import type { PoolClient } from 'pg';
import type { DisconnectMode, JsonObject, JsonValue, MultitaskStrategy, RunOptions } from '../contracts';
import { AppError } from '../contracts';
import type { Database } from './database';
import { isUniqueViolation, translateErrors } from './errors';
import { isUuid } from './message-log';
import { endUnstartedRun } from './run-ending';
import type { Admission, RunRow } from './run-row';
import { RUN_COLUMNS } from './run-row';
import { insertThread } from './threads';

export interface AdmissionRequest {
  runId: string;
  threadId: string;
  owner: string;
  assistantId: string;
  metadata: JsonObject;
  kwargs: { input: JsonValue; config: JsonValue };
  options: RunOptions;
  strategy: MultitaskStrategy;
  onDisconnect: DisconnectMode;
  /** What makes a thread that is not there: `false` gives `thread_not_found`. */
  createThread: boolean;
  threadMetadata?: JsonObject;
  afterSeconds: number;
  /** Secrets of the request, sealed: they are there with the run or not at all. */
  sealedSecrets?: Buffer;
  /** An earlier run of the thread whose turn this one replaces. */
  supersedes?: string;
  idempotency?: { key: string; requestHash: string };
}

export interface AdmissionResult {
  row: RunRow;
  /** False where the idempotency key named a run that is there already. */
  created: boolean;
  /** Runs whose workflows must be told to cancel. */
  cancelled: RunRow[];
}

/** Most runs that may wait for one thread. */
export const MAX_QUEUED_RUNS = 20;

/** How long an idempotency key is remembered. */
export const IDEMPOTENCY_HOURS = 24;

/**
 * Decides in one transaction whether a run may have its thread, must wait or is refused, and creates it with the first
 * event of its stream. Nothing is stored when it is refused.
 */
export async function admitRun(database: Database, request: AdmissionRequest): Promise<AdmissionResult> {
  return translateErrors(async () => {
    try {
      return await database.transaction((client) => admit(client, request));
    } catch (error) {
      // Two creates of one thread at once: the loser finds it there now.
      if (isUniqueViolation(error)) return database.transaction((client) => admit(client, request));
      throw error;
    }
  });
}

async function admit(client: PoolClient, request: AdmissionRequest): Promise<AdmissionResult> {
  const thread = await lockThread(client, request);
  const earlier = await findByIdempotencyKey(client, request);
  if (earlier !== null) return { row: earlier, created: false, cancelled: [] };

  if (request.options.checkpointId !== undefined) {
    await requireCheckpoint(client, request.threadId, request.options.checkpointId);
  }
  if (thread.hold !== null) {
    throw new AppError('thread_busy', `Thread ${request.threadId} has an active checkpoint write`);
  }
  const { rows: open } = await client.query<RunRow>(
    `select ${RUN_COLUMNS} from runs where thread_id = $1 and admission <> 'ended' order by ordinal for no key update`,
    [request.threadId],
  );
  const { admission, cancelled } = await applyStrategy(client, request, open);
  const row = await insertRun(client, request, admission);
  await supersede(client, request);
  return { row, created: true, cancelled };
}

async function lockThread(client: PoolClient, request: AdmissionRequest): Promise<{ hold: string | null }> {
  if (request.createThread) {
    const { threadId, owner, threadMetadata: metadata = {} } = request;
    await insertThread(client, { threadId, owner, metadata });
  }
  const { rows } = await client.query<{ hold: string | null }>(
    `select case when held_at > now() - interval '2 minutes' then hold end as hold
     from threads where thread_id = $1 and owner = $2 for no key update`,
    [request.threadId, request.owner],
  );
  const thread = rows[0];
  if (thread === undefined) throw new AppError('thread_not_found', `Thread ${request.threadId} not found`);
  return thread;
}

async function findByIdempotencyKey(client: PoolClient, request: AdmissionRequest): Promise<RunRow | null> {
  if (request.idempotency === undefined) return null;
  const { key, requestHash } = request.idempotency;
  await client.query(
    `update runs set idempotency_key = null
     where owner = $1 and thread_id = $2 and idempotency_key = $3
       and created_at < now() - make_interval(hours => ${IDEMPOTENCY_HOURS})`,
    [request.owner, request.threadId, key],
  );
  const { rows } = await client.query<RunRow>(
    `select ${RUN_COLUMNS} from runs where owner = $1 and thread_id = $2 and idempotency_key = $3`,
    [request.owner, request.threadId, key],
  );
  const row = rows[0];
  if (row === undefined) return null;
  if (row.requestHash !== requestHash) {
    throw new AppError('idempotency_conflict', 'Idempotency-Key was used with a different request body');
  }
  return row;
}

async function requireCheckpoint(client: PoolClient, threadId: string, checkpointId: string): Promise<void> {
  const { rowCount } = isUuid(checkpointId)
    ? await client.query('select 1 from checkpoints where thread_id = $1 and checkpoint_id = $2', [
        threadId,
        checkpointId,
      ])
    : { rowCount: 0 };
  if (rowCount !== 1) throw new AppError('checkpoint_not_found', `Checkpoint ${checkpointId} not found`);
}

async function supersede(client: PoolClient, { owner, threadId, supersedes }: AdmissionRequest): Promise<void> {
  if (supersedes === undefined || !isUuid(supersedes)) return;
  await client.query('update runs set superseded = true where run_id = $1 and thread_id = $2 and owner = $3', [
    supersedes,
    threadId,
    owner,
  ]);
}

async function applyStrategy(
  client: PoolClient,
  request: AdmissionRequest,
  open: RunRow[],
): Promise<{ admission: Admission; cancelled: RunRow[] }> {
  if (open.length === 0) return { admission: 'active', cancelled: [] };
  if (request.strategy === 'reject') {
    // Whoever stopped everything and then goes on is not in the way of anyone: the run follows once the rest has ended.
    if (open.every(({ cancelAction }) => cancelAction !== null)) return { admission: 'queued', cancelled: [] };
    throw new AppError('thread_busy', `Thread ${request.threadId} already has an active run`);
  }
  if (request.strategy === 'enqueue') {
    if (open.filter((row) => row.admission === 'queued').length >= MAX_QUEUED_RUNS) {
      throw new AppError('queue_full', `Thread ${request.threadId} already has ${MAX_QUEUED_RUNS} runs waiting`);
    }
    return { admission: 'queued', cancelled: [] };
  }
  const action = request.strategy;
  for (const row of open.filter(({ admission }) => admission === 'queued')) await endUnstartedRun(client, row, action);
  const active = open.filter(({ admission }) => admission === 'active');
  for (const row of active) {
    await client.query(
      'update runs set cancel_action = coalesce(cancel_action, $2), updated_at = now() where run_id = $1',
      [row.runId, action],
    );
  }
  const cancelled = active.map((row) => ({ ...row, cancelAction: row.cancelAction ?? action }));
  return { admission: active.length === 0 ? 'active' : 'queued', cancelled };
}

async function insertRun(client: PoolClient, request: AdmissionRequest, admission: Admission): Promise<RunRow> {
  const { rows } = await client.query<RunRow>(
    `insert into runs (run_id, thread_id, owner, assistant_id, admission, metadata, kwargs, options,
                       multitask_strategy, on_disconnect, idempotency_key, request_hash, available_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, now() + make_interval(secs => $13))
     returning ${RUN_COLUMNS}`,
    [
      request.runId,
      request.threadId,
      request.owner,
      request.assistantId,
      admission,
      JSON.stringify(request.metadata),
      JSON.stringify(request.kwargs),
      JSON.stringify(request.options),
      request.strategy,
      request.onDisconnect,
      request.idempotency?.key ?? null,
      request.idempotency?.requestHash ?? null,
      request.afterSeconds,
    ],
  );
  await client.query('insert into run_streams (run_id) values ($1)', [request.runId]);
  if (request.sealedSecrets !== undefined) {
    const secrets = [request.runId, request.sealedSecrets];
    await client.query('insert into run_secrets (run_id, sealed) values ($1, $2)', secrets);
  }
  await client.query('select append_run_events($1, $2::jsonb)', [
    request.runId,
    JSON.stringify([{ kind: 'run-start', payload: { run_id: request.runId, thread_id: request.threadId } }]),
  ]);
  await client.query("update threads set status = 'busy', updated_at = now() where thread_id = $1", [request.threadId]);
  const row = rows[0];
  if (row === undefined) throw new AppError('internal', 'The run was not stored.');
  return row;
}
