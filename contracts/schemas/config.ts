/**
 * The parts of DeerFlow's `config.yaml` that are active, with their defaults. Sections of areas that are not built yet
 * are listed in `INACTIVE_SECTIONS`: they are accepted, and named once in the log.
 *
 * A section whose lines are all commented out is null in YAML: null means absent means default.
 */
import { z } from 'zod';

/** Treats null as absent, so that the default applies. */
function orDefault<T extends z.ZodType>(schema: T) {
  return z.preprocess((value) => (value === null ? undefined : value), schema);
}

function section<T extends z.ZodRawShape>(shape: T) {
  return orDefault(z.strictObject(shape).prefault({} as never));
}

const characters = z.int().min(0);

export const requestAdmissionSchema = z.strictObject({
  requests_per_minute: z.int().positive(),
  /** Models of one group share one pace; without it a model has its own. */
  group: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,100}$/, 'must be 1 to 100 of A-Z a-z 0-9 _ . -')
    .nullish(),
  max_wait_seconds: z.number().positive().default(300),
  max_queue_size: z.int().positive().default(256),
});

/** One entry of `models[]`. Keys that the provider adapter understands are passed on. */
export const modelConfigSchema = z.looseObject({
  name: z.string().min(1),
  display_name: z.string().nullish(),
  description: z.string().nullish(),
  use: z.string().min(1),
  model: z.string().min(1),
  api_key: z.string().nullish(),
  base_url: z.string().nullish(),
  max_tokens: z.int().positive().nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  request_timeout: z.number().positive().nullish(),
  timeout: z.number().positive().nullish(),
  supports_thinking: z.boolean().default(false),
  supports_reasoning_effort: z.boolean().default(false),
  supports_vision: z.boolean().default(false),
  stream_usage: z.boolean().nullish(),
  request_admission: requestAdmissionSchema.nullish(),
});

export const toolConfigSchema = z.looseObject({
  name: z.string().min(1),
  group: z.string().min(1).nullish(),
  use: z.string().min(1),
  max_results: z.int().nullish(),
});

export const configSchema = z.strictObject({
  config_version: orDefault(z.int().default(0)),
  log_level: orDefault(z.string().default('info')),
  models: orDefault(z.array(modelConfigSchema).default([])),
  tool_groups: orDefault(z.array(z.looseObject({ name: z.string().min(1) })).default([])),
  tools: orDefault(z.array(toolConfigSchema).nullable().default(null)),
  recursion_limit: orDefault(z.int().min(1).default(100)),
  max_recursion_limit: orDefault(z.int().min(1).default(1000)),
  sandbox: section({
    use: z.string().default('deerflow.sandbox.local:LocalSandboxProvider'),
    allow_host_bash: z.boolean().default(false),
    mounts: z
      .array(
        z.strictObject({ host_path: z.string(), container_path: z.string(), read_only: z.boolean().default(false) }),
      )
      .default([]),
    bash_output_max_chars: characters.default(20_000),
    read_file_output_max_chars: characters.default(50_000),
    ls_output_max_chars: characters.default(20_000),
    /** Seconds. */
    bash_command_timeout: z.number().positive().default(600),
  }),
  skills: section({ path: z.string().optional(), container_path: z.string().default('/mnt/skills') }),
  tool_output: section({
    enabled: z.boolean().default(true),
    externalize_min_chars: characters.default(12_000),
    preview_head_chars: characters.default(2_000),
    preview_tail_chars: characters.default(1_000),
    fallback_max_chars: characters.default(30_000),
    fallback_head_chars: characters.default(8_000),
    fallback_tail_chars: characters.default(3_000),
    storage_subdir: z
      .string()
      .regex(/^(?!\.{1,2}$)[^/\\]+$/, 'must be one path segment')
      .default('.tool-results'),
    exempt_tools: z.array(z.string()).default(['read_file', 'read_file_tool']),
    tool_overrides: z.record(z.string(), z.int().min(0)).default({}),
  }),
  read_before_write: section({ enabled: z.boolean().default(true) }),
  uploads: section({
    max_files: z.int().positive().default(10),
    /** Bytes. */
    max_file_size: z.int().positive().default(52_428_800),
    /** Bytes. */
    max_total_size: z.int().positive().default(104_857_600),
  }),
  title: section({
    enabled: z.boolean().default(true),
    max_words: z.int().min(1).max(20).default(6),
    max_chars: z.int().min(10).max(200).default(60),
    /** Null: the user's first words, without asking a model. */
    model_name: z.string().nullable().default(null),
    prompt_template: z.string().nullable().default(null),
  }),
  token_usage: section({ enabled: z.boolean().default(true) }),
  suggestions: section({ enabled: z.boolean().default(true), max_suggestions: z.int().min(1).max(5).default(3) }),
  llm_call: section({
    /** Attempts in all; 1 means no retry. */
    retry_max_attempts: z.int().min(1).default(3),
    retry_base_delay_ms: z.int().min(0).default(1000),
    retry_cap_delay_ms: z.int().min(0).default(8000),
    burst_retry_base_delay_ms: z.int().min(0).default(5000),
    /** Model calls in flight at once, over all workers; 0 is no limit. */
    max_concurrent_calls: z.int().min(0).default(0),
  }),
  circuit_breaker: section({
    failure_threshold: z.int().min(1).default(5),
    recovery_timeout_sec: z.number().positive().default(60),
  }),
  lead_prompt_overlay: section({
    prepend: z.string().nullable().default(null),
    append: z.string().nullable().default(null),
  }),
  token_budget: section({
    enabled: z.boolean().default(false),
    max_tokens: z.int().min(1000).default(200_000),
    max_input_tokens: z.int().min(1).nullable().default(null),
    max_output_tokens: z.int().min(1).nullable().default(null),
    warn_threshold: z.number().min(0).max(1).default(0.8),
    hard_stop_threshold: z.number().min(0).max(1).default(1),
  }),
  safety_finish_reason: section({
    enabled: z.boolean().default(true),
    /** Null: all built-in detectors. */
    detectors: z
      .array(z.strictObject({ use: z.string().min(1), config: z.record(z.string(), z.unknown()).default({}) }))
      .min(1)
      .nullable()
      .default(null),
  }),
  runs: section({
    on_disconnect_default: z.enum(['continue', 'cancel']).default('continue'),
    /** Seconds of silence of a model after which the call counts as stalled. */
    model_stall_timeout_seconds: z.number().positive().default(120),
    /** Lets webhooks reach private addresses. For tests and closed networks. */
    webhook_allow_private_addresses: z.boolean().default(false),
  }),
  stream_bridge: section({
    /** Seconds that a finished run's stream is kept; at least 60. */
    recovered_stream_cleanup_delay_seconds: z.number().min(0).default(3600),
  }),
});

export type Config = z.output<typeof configSchema>;
export type ModelConfig = z.output<typeof modelConfigSchema>;
export type ToolConfig = z.output<typeof toolConfigSchema>;

/** Sections of DeerFlow's configuration whose feature is not active here yet. */
export const INACTIVE_SECTIONS = [
  'acp_agents',
  'agent_storage',
  'agents_api',
  'auth',
  'authorization',
  'blob_storage',
  'channel_connections',
  'channels',
  'checkpointer',
  'database',
  'dedupe_storage',
  'deployment',
  'extensions',
  'guardrails',
  'input_polish',
  'knowledge_base',
  'logging',
  'loop_detection',
  'mcp_tasks',
  'memory',
  'pii_redaction',
  'plugins',
  'projects',
  'run_events',
  'run_ownership',
  'scheduler',
  'skill_evolution',
  'skill_scan',
  'subagent_batches',
  'subagent_runtime',
  'subagents',
  'summarization',
  'task_continuity',
  'tool_artifacts',
  'tool_progress',
  'tool_search',
  'verification',
] as const;
