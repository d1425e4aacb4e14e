import type { JsonObject } from '../../contracts';
import type { CheckpointRow } from '../../db';

/** A checkpoint as the official client reads it, beside the older keys that DeerFlow's web UI reads. */
export function checkpointFields(threadId: string, row: CheckpointRow): JsonObject {
  return {
    next: row.next,
    metadata: checkpointMetadata(threadId, row),
    checkpoint: { ...reference(threadId, row.checkpointId), id: row.checkpointId, ts: row.createdAt },
    checkpoint_id: row.checkpointId,
    parent_checkpoint_id: row.parentId,
    parent_checkpoint: row.parentId === null ? null : reference(threadId, row.parentId),
    created_at: row.createdAt,
    tasks: checkpointTasks(row),
    config: { configurable: configurable(threadId, row.checkpointId) },
  };
}

/** The form of mode `checkpoints`, without its values. */
export function checkpointFrame(threadId: string, row: CheckpointRow): JsonObject {
  return {
    config: { configurable: configurable(threadId, row.checkpointId) },
    parent_config: row.parentId === null ? null : { configurable: configurable(threadId, row.parentId) },
    metadata: checkpointMetadata(threadId, row),
    next: row.next,
    tasks: checkpointTasks(row),
  };
}

export function checkpointTasks(row: CheckpointRow): JsonObject[] {
  const waiting = row.next.length === 0 && row.error !== null ? [row.node ?? 'run'] : row.next;
  return waiting.map((name, place) => ({
    id: taskId(row, name),
    name,
    path: ['__pregel_pull', name],
    error: place === 0 ? row.error : null,
    interrupts: place === 0 ? row.interrupts : [],
    checkpoint: null,
    state: null,
    result: null,
  }));
}

/** Interrupts by the task that waits for them. */
export function threadInterrupts(row: CheckpointRow | null): JsonObject {
  const [waiting] = row?.next ?? [];
  if (row === null || waiting === undefined || row.interrupts.length === 0) return {};
  return { [taskId(row, waiting)]: row.interrupts };
}

function taskId({ checkpointId }: CheckpointRow, node: string): string {
  return `${checkpointId}:${node}`;
}

function checkpointMetadata(threadId: string, row: CheckpointRow): JsonObject {
  return {
    step: row.step,
    source: row.source,
    writes: null,
    parents: {},
    created_at: row.createdAt,
    thread_id: threadId,
    ...(row.runId === null ? {} : { run_id: row.runId }),
    ...row.metadata,
  };
}

function configurable(threadId: string, checkpointId: string): JsonObject {
  return { thread_id: threadId, checkpoint_ns: '', checkpoint_id: checkpointId };
}

function reference(threadId: string, checkpointId: string): JsonObject {
  return { ...configurable(threadId, checkpointId), checkpoint_map: null };
}
