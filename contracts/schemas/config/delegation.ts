/** Work that a run hands on: subagents, external agents, long tasks of other servers. */
import { z } from 'zod';
import {
  anything,
  flag,
  number,
  optionalText,
  optionalWhole,
  positive,
  section,
  share,
  text,
  texts,
  whole,
} from './fields';
import { promptOverlaySchema } from './policies';

const tokenBudget = z.object({
  enabled: z.boolean().optional(),
  max_tokens: z.int().min(1).optional(),
  warn_threshold: z.number().min(0).max(1).optional(),
});

export const subagentsSchema = section({
  /** Seconds. */
  timeout_seconds: positive(1800),
  /** Null: as each kind of subagent has it. */
  max_turns: optionalWhole(),
  max_total_per_run: whole(6, 1, 50),
  token_budget: section({
    enabled: flag(true),
    /** Null: 2,000,000, or half of that while conversations are summarised. */
    max_tokens: optionalWhole(),
    warn_threshold: share(0.7),
  }),
  agents: z
    .record(
      z.string(),
      z.object({
        timeout_seconds: z.number().positive().nullish(),
        max_turns: z.int().min(1).nullish(),
        model: z.string().nullish(),
        skills: z.array(z.string()).nullish(),
        token_budget: tokenBudget.nullish(),
        prompt_overlay: promptOverlaySchema.nullish(),
      }),
    )
    .default({}),
  custom_agents: z
    .record(
      z.string(),
      z.object({
        description: z.string(),
        system_prompt: z.string(),
        tools: z.array(z.string()).nullable().default(null),
        disallowed_tools: texts(['task', 'ask_clarification', 'present_files']),
        skills: z.array(z.string()).nullable().default(null),
        model: text('inherit'),
        max_turns: whole(50, 1),
        timeout_seconds: positive(900),
      }),
    )
    .default({}),
});

export const acpAgentsSchema = z
  .record(
    z.string(),
    z.object({
      command: z.string().min(1),
      args: texts(),
      env: z.record(z.string(), z.string()).default({}),
      description: z.string().nullish(),
      model: optionalText,
      auto_approve_permissions: flag(false),
      timeout_seconds: positive(1800),
    }),
  )
  .default({});

export const subagentRuntimeSchema = section({ max_running: whole(3, 1, 64) });
export const subagentBatchesSchema = anything.default({});

export const mcpTasksSchema = section({
  enabled: flag(false),
  poll_interval_seconds: whole(5, 1, 300),
  lease_seconds: whole(120, 5, 3600),
  max_concurrent_polls: whole(8, 1, 64),
  max_poll_backoff_seconds: whole(300, 1),
  input_required_poll_interval_seconds: whole(60, 5, 3600),
  tracking_degraded_after_errors: whole(3, 1, 100),
  max_result_bytes: whole(65_536, 1024, 10_485_760),
  result_preview_max_chars: whole(2000, 64, 100_000),
});

export const schedulerSchema = section({
  enabled: flag(false),
  tool_enabled: flag(false),
  multi_instance: flag(false),
  poll_interval_seconds: whole(5, 1, 300),
  lease_seconds: whole(120, 5, 3600),
  /** Over all users. */
  max_concurrent_runs: whole(3, 1, 32),
  /** 0 is no limit but that of all users. */
  max_concurrent_runs_per_user: whole(2, 0, 32),
  queue_timeout_seconds: whole(3600, 60, 604_800),
  min_once_delay_seconds: whole(60, 1, 86_400),
  recursion_limit: whole(1000, 1),
});

export const pluginsSchema = z
  .array(
    z.object({
      name: z.string().min(1),
      package: z.string().nullish(),
      use: z.string().nullish(),
      enabled: flag(true),
      required: flag(false),
      config: anything.default({}),
    }),
  )
  .default([]);

const memoryBackend = section({
  storage_path: text(''),
  storage_class: text('file'),
  strict_user_scope: flag(false),
  manifest_filename: text('memory.json'),
  file_lock_timeout_seconds: positive(10),
  retrieval_adapter: text('fts5'),
  retrieval_index_path: optionalText,
  debounce_seconds: number(30),
  /** 0 is no limit. */
  queue_max_depth: whole(1000),
  model: section({
    provider: optionalText,
    model: optionalText,
    api_key: optionalText,
    base_url: optionalText,
    temperature: z.number().min(0).max(2).nullable().default(null),
  }),
  max_facts: whole(100, 1),
  fact_confidence_threshold: share(0.7),
  max_injection_tokens: whole(2000, 1),
  token_counting: z.enum(['tiktoken', 'char']).default('tiktoken'),
  guaranteed_categories: texts(['correction']),
  guaranteed_token_budget: whole(500),
  fact_eviction_policy: z.enum(['confidence', 'hybrid-v1']).default('confidence'),
  fact_eviction_shadow_enabled: flag(false),
  eviction_confidence_weight: share(0.65),
  eviction_confirmation_weight: share(0.25),
  eviction_access_weight: share(0.1),
  eviction_confirmation_half_life_days: positive(90),
  eviction_access_half_life_days: positive(30),
  eviction_correction_reserved_fraction: share(0.1),
  eviction_correction_reserved_max: whole(10),
  eviction_audit_max_entries: whole(200),
  staleness_review_enabled: flag(true),
  staleness_age_days: whole(90, 1),
  staleness_min_candidates: whole(3, 1),
  staleness_max_removals_per_cycle: whole(10, 1),
  staleness_protected_categories: texts(['correction']),
  staleness_max_lifetime_multiplier: whole(20, 1, 100),
  staleness_max_extension_days: whole(3650, 90, 36_500),
  consolidation_enabled: flag(false),
  consolidation_min_facts: whole(8, 3, 30),
  consolidation_max_groups_per_cycle: whole(3, 1, 10),
  consolidation_max_sources: whole(8, 2, 20),
  patterns_dir: optionalText,
  prompts_dir: optionalText,
  prompt_prepend: optionalText,
  prompt_append: optionalText,
});

export const memorySchema = section({
  enabled: flag(true),
  injection_enabled: flag(true),
  mode: z.enum(['middleware', 'tool']).default('middleware'),
  shutdown_flush_timeout_seconds: number(30, 1, 300),
  manager_class: text('deermem'),
  backend_config: memoryBackend,
});
