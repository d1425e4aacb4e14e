import type { JsonObject } from '../../contracts';
import type { Stores, ThreadRow } from '../../db';
import { threadInterrupts } from './checkpoint-view';
import { valuesJson, withRaw } from './values';

/** Keys of a thread's metadata that clients may neither set nor read. */
const HIDDEN_METADATA = new Set(['auth_token']);
const SERVER_METADATA = new Set(['owner_id', 'user_id', 'auth_token']);

/** A thread as it stands in lists: of its values only the title. */
export function threadSummary(row: ThreadRow): JsonObject {
  return { ...threadFields(row), values: row.title === null ? {} : { title: row.title }, interrupts: {} };
}

/** A thread as creating and changing it answers. */
export function threadBrief(row: ThreadRow): JsonObject {
  return { ...threadFields(row), values: {}, interrupts: {} };
}

/** A thread with its newest values, as JSON text. */
export async function threadJson({ log }: Pick<Stores, 'log'>, row: ThreadRow): Promise<string> {
  const head = await log.head(row.threadId);
  const values = valuesJson(await log.state(row.threadId));
  return withRaw({ ...threadFields(row), interrupts: threadInterrupts(head) }, 'values', values);
}

function threadFields(row: ThreadRow): JsonObject {
  return {
    thread_id: row.threadId,
    status: row.status,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
    metadata: without(row.metadata, HIDDEN_METADATA),
  };
}

export function clientMetadata(metadata: JsonObject): JsonObject {
  return without(metadata, SERVER_METADATA);
}

function without(metadata: JsonObject, keys: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => !keys.has(key)));
}
