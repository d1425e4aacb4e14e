/**
 * The body that starts a run. Unknown keys are refused, because an option that is silently ignored is worse than one
 * that is missing. What needs the database or the configuration is checked later, by `api/runs/`.
 */
import { z } from 'zod';
import { CANCEL_ACTIONS, MULTITASK_STRATEGIES, STREAM_MODES } from '../runs';
import { flagSchema, integerSchema, jsonObjectSchema, optionalObject } from './fields';

export const MAX_AFTER_SECONDS = 86_400;
export const MAX_REFERENCES = 3;
export const DISCONNECT_MODES = ['cancel', 'continue'] as const;
export const IF_NOT_EXISTS = ['create', 'reject'] as const;

export const streamModeSchema = z.enum(STREAM_MODES);

const breakpoints = z.union([z.array(z.string()), z.literal('*')]).nullish();

export const runCreateRequestSchema = z
  .strictObject({
    assistant_id: z.string().nullish(),
    input: jsonObjectSchema.nullish(),
    command: jsonObjectSchema.nullish(),
    metadata: optionalObject(),
    config: optionalObject(),
    context: optionalObject(),
    checkpoint_id: z.string().nullish(),
    checkpoint: jsonObjectSchema.nullish(),
    interrupt_before: breakpoints,
    interrupt_after: breakpoints,
    stream_mode: z.union([streamModeSchema, z.array(streamModeSchema)]).nullish(),
    stream_subgraphs: z.boolean().default(false),
    stream_resumable: z.boolean().nullish(),
    on_disconnect: z.enum(DISCONNECT_MODES).optional(),
    multitask_strategy: z.enum(MULTITASK_STRATEGIES).default('reject'),
    if_not_exists: z.enum(IF_NOT_EXISTS).optional(),
    after_seconds: z.number().min(0).max(MAX_AFTER_SECONDS).nullish(),
    webhook: z
      .url({ protocol: /^https?$/, error: 'expected an http or https URL' })
      .max(2048)
      .nullish(),
    feedback_keys: z.null().optional(),
    on_completion: z.null().optional(),
    conversation_references: z.array(z.string().min(1).max(2048)).max(MAX_REFERENCES).nullish(),
  })
  .meta({ id: 'RunCreateRequest' });

export type RunCreateRequest = z.output<typeof runCreateRequestSchema>;

/** Query of a cancel, and of a stream that cancels first. */
export const cancelQuerySchema = z.object({
  wait: flagSchema.optional().default(false),
  action: z.enum(CANCEL_ACTIONS).optional(),
  cancel_on_disconnect: flagSchema.optional().default(false),
});

/** The run list is the one place where a limit that is too large is cut instead of refused: the client's own default. */
export const runListQuerySchema = z.object({
  limit: integerSchema({ min: 1 }).optional().default(100),
  offset: integerSchema({ min: 0 }).optional().default(0),
  status: z.string().optional(),
});
