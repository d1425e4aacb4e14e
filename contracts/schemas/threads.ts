/** Requests about threads. Unknown keys are ignored: the official client sends more than we need. */
import { z } from 'zod';
import type { JsonValue } from '../json';
import { integerOr, integerSchema, jsonObjectSchema, optionalObject, threadIdSchema } from './fields';

export const threadCreateRequestSchema = z
  .object({
    thread_id: threadIdSchema.nullish(),
    assistant_id: z.string().nullish(),
    metadata: optionalObject(),
    if_exists: z.string().nullish(),
  })
  .meta({ id: 'ThreadCreateRequest' });

const FILTER_KEY = /^[A-Za-z0-9_-]+$/;
const MAX_INT64 = 2 ** 63;

function unfitFilters(filters: Record<string, JsonValue>): string[] {
  return Object.entries(filters).flatMap(([key, value]) => {
    if (!FILTER_KEY.test(key)) return [`'${key}' (unsafe key)`];
    if (Array.isArray(value)) return [`'${key}' (unsupported value type list)`];
    if (value !== null && typeof value === 'object') return [`'${key}' (unsupported value type dict)`];
    if (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) >= MAX_INT64) {
      return [`'${key}' (integer out of range)`];
    }
    return [];
  });
}

const metadataFilter = jsonObjectSchema
  .nullish()
  .superRefine((filters, context) => {
    const unfit = unfitFilters(filters ?? {});
    if (unfit.length > 0) context.addIssue(`Invalid metadata filter entries: ${unfit.join(', ')}`);
  })
  .transform((filters) => filters ?? {});

const SORT_KEYS = ['created_at', 'updated_at', 'thread_id', 'status'] as const;

export const threadSearchRequestSchema = z
  .object({
    metadata: metadataFilter,
    ids: z.array(z.string()).nullish(),
    limit: integerOr(100, { min: 1, max: 1000 }),
    offset: integerOr(0, { min: 0 }),
    status: z.string().nullish(),
    archived: z.boolean().nullish(),
    sort_by: z.enum(SORT_KEYS).nullish().catch(null),
    sort_order: z.enum(['asc', 'desc']).nullish().catch(null),
  })
  .meta({ id: 'ThreadSearchRequest' });

export const threadCountRequestSchema = z
  .object({ metadata: metadataFilter, status: z.string().nullish() })
  .meta({ id: 'ThreadCountRequest' });

export const threadPatchRequestSchema = z.object({ metadata: optionalObject() }).meta({ id: 'ThreadPatchRequest' });

export const threadStateUpdateRequestSchema = z
  .object({
    values: optionalObject(),
    checkpoint_id: z.string().nullish(),
    checkpoint: jsonObjectSchema.nullish(),
    as_node: z.string().max(200).nullish(),
  })
  .meta({ id: 'ThreadStateUpdateRequest' });

export const threadHistoryRequestSchema = z
  .object({
    limit: integerOr(10, { min: 1, max: 100 }),
    /** A checkpoint id, or the configuration that holds one. */
    before: z.union([z.string(), jsonObjectSchema]).nullish(),
  })
  .meta({ id: 'ThreadHistoryRequest' });

export const checkpointStateRequestSchema = z
  .object({ checkpoint: jsonObjectSchema })
  .meta({ id: 'CheckpointStateRequest' });

export const threadBranchRequestSchema = z
  .object({
    message_id: z.string().min(1),
    message_ids: z.array(z.string()).nullish(),
    title: z.string().max(500).nullish(),
  })
  .meta({ id: 'ThreadBranchRequest' });

export const regenerateRequestSchema = z.object({ message_id: z.string().min(1) }).meta({ id: 'RegenerateRequest' });

export const editRegenerateRequestSchema = z
  .object({ human_message_id: z.string().min(1), replacement_text: z.string() })
  .meta({ id: 'EditRegenerateRequest' });

/** Pages of messages and events. */
export const messageQuerySchema = z.object({
  limit: integerOr(50, { min: 1, max: 200 }),
  before_seq: integerSchema({ min: 0 }).optional(),
  after_seq: integerSchema({ min: 0 }).optional(),
});

export const eventQuerySchema = z.object({
  limit: integerOr(500, { min: 1, max: 2000 }),
  after_seq: integerOr(0, { min: 0 }),
  event_types: z.string().optional(),
  task_id: z.string().optional(),
});
