/** What the API answers with, as far as clients may rely on it; answers may hold more keys. Only described, not checked. */
import { z } from 'zod';
import { RUN_STATUSES } from '../../contracts';
import { MANAGED_PROVIDERS } from '../../contracts/schemas/managed-models';

const anyObject = z.record(z.string(), z.unknown());
const timestamp = z.iso.datetime({ offset: true });
const message = anyObject.describe("A message in LangChain's form: type, id, content, tool_calls, …");

const fault = z.looseObject({
  type: z.string(),
  loc: z.array(z.union([z.string(), z.int()])),
  msg: z.string(),
  input: z.unknown(),
  ctx: anyObject.optional(),
});

const thread = z.looseObject({
  thread_id: z.string(),
  status: z.enum(['idle', 'busy', 'interrupted', 'error']),
  created_at: timestamp,
  updated_at: timestamp,
  metadata: anyObject,
  values: anyObject,
  interrupts: anyObject.optional(),
});

const run = z.looseObject({
  run_id: z.string(),
  thread_id: z.string(),
  assistant_id: z.string(),
  status: z.enum(RUN_STATUSES),
  metadata: anyObject,
  kwargs: anyObject,
  multitask_strategy: z.string(),
  created_at: timestamp,
  updated_at: timestamp,
  total_input_tokens: z.int(),
  total_output_tokens: z.int(),
  total_tokens: z.int(),
  llm_call_count: z.int(),
  message_count: z.int(),
  stop_reason: z.string().nullable(),
  error: anyObject.nullable(),
});

const checkpoint = z.looseObject({
  values: anyObject,
  next: z.array(z.string()),
  metadata: anyObject,
  checkpoint: anyObject,
  checkpoint_id: z.string(),
  parent_checkpoint_id: z.string().nullable(),
  created_at: timestamp,
  tasks: z.array(anyObject),
});

const uploadedFile = z.looseObject({
  filename: z.string(),
  size: z.int(),
  path: z.string(),
  virtual_path: z.string(),
  artifact_url: z.string(),
  extension: z.string().nullable(),
  modified: z.number().nullable().describe('Seconds since the epoch'),
  original_filename: z.string().nullable().describe('Set where the name was taken already'),
});

const managedModel = z.looseObject({
  name: z.string(),
  provider: z.enum(MANAGED_PROVIDERS),
  display_name: z.string(),
  model: z.string(),
  base_url: z.string().nullable(),
  enabled: z.boolean(),
  supports_vision: z.boolean().nullable(),
  context_window: z.int().nullable(),
  max_tokens: z.int().nullable(),
  reasoning: anyObject.nullable(),
  revision: z.string(),
  has_api_key: z.boolean(),
  source: z.literal('managed'),
  conflict: z
    .boolean()
    .optional()
    .describe('In lists: a model of config.yaml has the name, and is the one that answers'),
});

const fileModel = z.looseObject({
  name: z.string(),
  display_name: z.string(),
  model: z.string(),
  source: z.literal('config'),
  enabled: z.boolean(),
});

const model = z.looseObject({
  name: z.string(),
  model: z.string(),
  display_name: z.string(),
  description: z.string().nullable(),
  supports_thinking: z.boolean(),
  supports_reasoning_effort: z.boolean(),
  reasoning: z.looseObject({
    thinking: z.enum(['unsupported', 'optional', 'required']),
    effort: z
      .looseObject({
        values: z.array(z.string()),
        default: z.string().nullable(),
        aliases: z.record(z.string(), z.string()),
      })
      .nullable(),
    history: z.enum(['preserve', 'clear']).nullable(),
    source: z.enum(['legacy', 'contract']),
  }),
});

const assistant = z.looseObject({
  assistant_id: z.string(),
  graph_id: z.string(),
  name: z.string(),
  description: z.string(),
  config: anyObject,
  metadata: anyObject,
  created_at: timestamp,
  updated_at: timestamp,
  version: z.int(),
});

/** By the names that the document gives them. */
export const responseSchemas = {
  Error: z.looseObject({ detail: z.union([z.string(), anyObject]) }),
  ValidationError: z.looseObject({ detail: z.array(fault) }),
  AnyObject: anyObject,
  AnyList: z.array(anyObject),
  Count: z.int().min(0),
  Success: z.looseObject({ success: z.boolean(), message: z.string() }),
  Thread: thread,
  ThreadList: z.array(thread),
  ThreadState: checkpoint,
  ThreadStateList: z.array(checkpoint),
  Run: run,
  RunList: z.array(run),
  MessageList: z.array(message),
  MessagePage: z.looseObject({ data: z.array(message), has_more: z.boolean(), next_before_seq: z.int().nullish() }),
  UploadResult: z.looseObject({
    success: z.boolean(),
    files: z.array(uploadedFile),
    message: z.string(),
    skipped_files: z.array(z.string()),
  }),
  UploadList: z.looseObject({ files: z.array(uploadedFile), count: z.int() }),
  UploadLimits: z.looseObject({ max_files: z.int(), max_file_size: z.int(), max_total_size: z.int() }),
  EditedArtifact: z.looseObject({ path: z.string(), sha256: z.string(), size: z.int() }),
  Model: model,
  ModelList: z.looseObject({ models: z.array(model), token_usage: z.looseObject({ enabled: z.boolean() }) }),
  ManagedModel: managedModel,
  ManagedModelList: z.looseObject({ models: z.array(z.union([managedModel, fileModel])) }),
  ManagedModelTest: z.looseObject({
    ok: z.boolean(),
    message: z.enum([
      'success',
      'tool_call_missing',
      'connection_failed',
      'missing_api_key',
      'authentication_failed',
      'output_limit_exceeded',
    ]),
  }),
  ManagedProviderList: z.looseObject({
    providers: z.array(
      z.looseObject({
        id: z.enum(MANAGED_PROVIDERS),
        label: z.string(),
        requires_api_key: z.boolean(),
        requires_base_url: z.boolean(),
      }),
    ),
  }),
  McpConfig: z.looseObject({ mcp_servers: z.record(z.string(), anyObject) }),
  Assistant: assistant,
  AssistantList: z.array(assistant),
} as const;
