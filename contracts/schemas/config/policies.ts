/** What a run may do and when it is stopped: limits, budgets, guards, texts around the prompt. */
import { z } from 'zod';
import {
  anything,
  choice,
  flag,
  optionalText,
  optionalWhole,
  positive,
  section,
  share,
  strictSection,
  text,
  texts,
  whole,
} from './fields';

const overlay = { prepend: optionalText, append: optionalText };

export const leadPromptOverlaySchema = strictSection(overlay);
export const promptOverlaySchema = z.strictObject(overlay);

export const tokenUsageSchema = section({ enabled: flag(true) });

export const tokenBudgetSchema = section({
  enabled: flag(false),
  max_tokens: whole(200_000, 1000),
  max_input_tokens: optionalWhole(),
  max_output_tokens: optionalWhole(),
  warn_threshold: share(0.8),
  hard_stop_threshold: share(1),
}).refine((budget) => budget.hard_stop_threshold >= budget.warn_threshold, {
  path: ['hard_stop_threshold'],
  message: 'must not be below warn_threshold',
});

export const toolSearchSchema = section({
  enabled: flag(false),
  // DeerFlow clamps it instead of refusing it.
  auto_promote_top_k: z
    .int()
    .transform((count) => Math.min(5, Math.max(1, count)))
    .prefault(3),
});

const toolFrequency = z
  .object({ warn: z.int().min(1), hard_limit: z.int().min(1) })
  .refine(({ warn, hard_limit }) => hard_limit >= warn, { path: ['hard_limit'], message: 'must not be below warn' });

export const loopDetectionSchema = section({
  enabled: flag(true),
  warn_threshold: whole(3, 1),
  hard_limit: whole(5, 1),
  window_size: whole(20, 1),
  max_tracked_threads: whole(100, 1),
  tool_freq_warn: whole(30, 1),
  tool_freq_hard_limit: whole(50, 1),
  tool_freq_overrides: z.record(z.string(), toolFrequency).default({}),
})
  .refine((limits) => limits.hard_limit >= limits.warn_threshold, {
    path: ['hard_limit'],
    message: 'must not be below warn_threshold',
  })
  .refine((limits) => limits.tool_freq_hard_limit >= limits.tool_freq_warn, {
    path: ['tool_freq_hard_limit'],
    message: 'must not be below tool_freq_warn',
  });

export const toolProgressSchema = section({
  enabled: flag(false),
  stagnation_threshold: whole(3, 1),
  warn_escalation_count: whole(2, 1),
  inject_assessment: flag(true),
  jaccard_similarity_threshold: share(0.8),
  min_word_count_for_similarity: whole(10),
  max_tracked_threads: whole(100, 1),
  exempt_tools: texts(['ask_clarification', 'write_todos', 'present_files', 'task']),
});

export const readBeforeWriteSchema = section({ enabled: flag(true) });

const providerUse = { use: z.string().min(1), config: anything.default({}) };

export const safetyFinishReasonSchema = section({
  enabled: flag(true),
  /** Null: all built-in detectors. An empty list would look like none: `enabled: false` says that. */
  detectors: z.array(z.strictObject(providerUse)).min(1).nullable().default(null),
});

export const guardrailsSchema = section({
  enabled: flag(false),
  fail_closed: flag(true),
  passport: z.unknown().optional(),
  provider: z.object(providerUse).nullable().default(null),
});

export const authorizationSchema = section({
  enabled: flag(false),
  fail_closed: flag(true),
  default_role: text('user'),
  provider: z.object(providerUse).nullable().default(null),
});

export const titleSchema = section({
  enabled: flag(true),
  max_words: whole(6, 1, 20),
  max_chars: whole(60, 10, 200),
  /** Null: the user's first words, without asking a model. */
  model_name: optionalText,
  prompt_template: optionalText,
});

export const suggestionsSchema = section({ enabled: flag(true), max_suggestions: whole(3, 1, 5) });
export const inputPolishSchema = section({ enabled: flag(true), max_chars: whole(4000, 1), model_name: optionalText });

export const llmCallSchema = section({
  /** Attempts in all; 1 means no retry. */
  retry_max_attempts: whole(3, 1),
  retry_base_delay_ms: whole(1000),
  retry_cap_delay_ms: whole(8000),
  burst_retry_base_delay_ms: whole(5000),
  /** Model calls in flight at once, over all workers; 0 is no limit. */
  max_concurrent_calls: whole(0),
});

export const circuitBreakerSchema = section({ failure_threshold: whole(5, 1), recovery_timeout_sec: positive(60) });

const measure = z.object({ type: z.enum(['fraction', 'tokens', 'messages']), value: z.number().positive() });

export const summarizationSchema = section({
  enabled: flag(false),
  model_name: optionalText,
  trigger: z
    .union([measure, z.array(measure)])
    .nullable()
    .default(null),
  keep: measure.prefault({ type: 'messages', value: 20 }),
  trim_tokens_to_summarize: z.int().min(1).nullable().default(4000),
  summary_prompt: optionalText,
  skill_file_read_tool_names: texts(['read_file', 'read', 'view', 'cat']),
});

export const verificationSchema = section({ receipts_enabled: flag(false) });
export const knowledgeBaseSchema = section({ enabled: flag(false), scope_selection_enabled: flag(false) });
export const skillScanSchema = section({ enabled: flag(true) });
export const skillEvolutionSchema = section({
  enabled: flag(false),
  moderation_model_name: optionalText,
  security_fail_closed: flag(true),
});
export const agentsApiSchema = section({ enabled: flag(false) });

export const runsSchema = section({
  on_disconnect_default: choice(['continue', 'cancel'], 'continue'),
  /** Seconds of silence of a model after which the call counts as stalled. */
  model_stall_timeout_seconds: positive(120),
  /** Lets webhooks reach private addresses. For tests and closed networks. */
  webhook_allow_private_addresses: flag(false),
});
