/** `models[]`: what is offered and how its provider is asked. */
import { z } from 'zod';

/** One pace for all calls of a group of models, over all workers. */
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

const EFFORT = /^[A-Za-z0-9_.-]{1,32}$/;
const EFFORT_PATH = /^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$/;
/** Mappings that hold more than an effort: writing the effort over one of them would lose the rest. */
const NO_EFFORT_PATHS = ['extra_body', 'thinking', 'model_kwargs', 'default_headers', 'default_query'];

const effortSchema = z
  .strictObject({
    values: z
      .array(z.string().regex(EFFORT, 'must be 1 to 32 of A-Z a-z 0-9 _ . -'))
      .min(1)
      .refine((values) => new Set(values).size === values.length, 'must hold each value once'),
    default: z.string().nullish(),
    /** Generic word to one of the values. */
    aliases: z.record(z.string(), z.string()).default({}),
    path: z
      .string()
      .regex(EFFORT_PATH, 'must be names joined by dots')
      .refine((path) => !NO_EFFORT_PATHS.includes(path), 'must not replace a whole mapping')
      .default('reasoning_effort'),
  })
  .superRefine((effort, context) => {
    const fault = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
    const isValue = (word: string) => effort.values.includes(word);
    if (effort.default && !isValue(effort.default)) fault(['default'], 'must be one of effort.values');
    for (const [word, value] of Object.entries(effort.aliases)) {
      if (isValue(word)) fault(['aliases', word], 'must not be one of effort.values itself');
      if (!isValue(value)) fault(['aliases', word], 'must lead to one of effort.values');
    }
  });

/** What a model can do about thinking, and how it is told. Plain words and flags of older files pass through. */
export const reasoningSchema = z
  .strictObject({
    thinking: z.enum(['unsupported', 'optional', 'required']),
    on_disable_request: z.enum(['keep_enabled', 'reject']).default('keep_enabled'),
    dialect: z.enum(['auto', 'openai_extra_body', 'anthropic', 'vllm_chat_template', 'ollama', 'none']).default('auto'),
    history: z.enum(['preserve', 'clear']).nullish(),
    effort: effortSchema.nullish(),
  })
  .refine((contract) => contract.on_disable_request === 'keep_enabled' || contract.thinking === 'required', {
    path: ['on_disable_request'],
    message: 'reject is only possible with thinking: required',
  });

export type ReasoningContract = z.output<typeof reasoningSchema>;

interface WireReasoning {
  effort?: string | null;
  summary?: string | null;
}

/** What OpenAI's Responses API itself takes under this name. Other than a contract it says nothing of `thinking`. */
const wireReasoningSchema = z.custom<WireReasoning>(isWireReasoning, { abort: true });

function isWireReasoning(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const members = Object.entries(value);
  const isKnown = ([name, member]: [string, unknown]) =>
    ['effort', 'summary'].includes(name) && (typeof member === 'string' || member === null);
  return members.length > 0 && members.every(isKnown);
}

const mapping = z.record(z.string(), z.unknown());
const oneLine = z.string().regex(/^[^\r\n]*$/, { error: 'must be one line', abort: true });
const address = oneLine.regex(/^\S*$/, 'must hold no spaces');
/** It becomes part of a header, which takes nothing else. */
const secret = oneLine.regex(/^[\x21-\x7e]*$/, 'must be printable ASCII without spaces');

/** One entry of `models[]`. Keys that the provider adapter understands are passed on. */
export const modelConfigSchema = z
  .looseObject({
    name: z.string().min(1),
    display_name: z.string().nullish(),
    description: z.string().nullish(),
    use: z.string().min(1),
    model: z.string().min(1),
    api_key: secret.nullish(),
    base_url: address.nullish(),
    api_base: address.nullish(),
    max_tokens: z.int().positive().nullish(),
    temperature: z.number().min(0).max(2).nullish(),
    /** Seconds until a reply begins; the three names mean the same. */
    request_timeout: z.number().positive().nullish(),
    timeout: z.number().positive().nullish(),
    default_request_timeout: z.number().positive().nullish(),
    /** Seconds of silence within a reply. */
    stream_chunk_timeout: z.number().positive().nullish(),
    max_retries: z.int().min(0).nullish(),
    use_responses_api: z.boolean().nullish(),
    output_version: z.string().nullish(),
    supports_thinking: z.boolean().default(false),
    supports_reasoning_effort: z.boolean().default(false),
    supports_vision: z.boolean().default(false),
    reasoning: z.union([reasoningSchema, wireReasoningSchema, z.boolean(), z.string()]).nullish(),
    when_thinking_enabled: mapping.nullish(),
    when_thinking_disabled: mapping.nullish(),
    thinking: mapping.nullish(),
    /** Tokens that the model can hold. */
    context_window: z.int().positive().nullish(),
    stream_usage: z.boolean().nullish(),
    request_admission: requestAdmissionSchema.nullish(),
    /** Per million tokens; shown, never reckoned with. */
    pricing: z
      .looseObject({
        currency: z.string().nullish(),
        input_per_million: z.number().min(0).nullish(),
        output_per_million: z.number().min(0).nullish(),
        input_cache_hit_per_million: z.number().min(0).nullish(),
      })
      .nullish(),
  })
  .superRefine((entry, context) => {
    const fault = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
    if (entry.request_admission && entry['rate_limiter'] !== undefined) {
      fault('request_admission', 'request_admission cannot be combined with a custom rate_limiter');
    }
    for (const [path, message] of contradictions(entry)) fault(path, message);
  });

interface ReasoningKeys {
  reasoning?: unknown;
  supports_thinking: boolean;
  supports_reasoning_effort: boolean;
  when_thinking_enabled?: unknown;
  when_thinking_disabled?: unknown;
  thinking?: unknown;
}

/** Where a contract and the older keys of the same entry cannot both be true. */
function contradictions(entry: ReasoningKeys): Array<[string, string]> {
  const contract = entry.reasoning;
  if (typeof contract !== 'object' || contract === null || !('thinking' in contract)) return [];
  const { thinking, effort } = contract as ReasoningContract;
  const found: Array<[string, string]> = [];
  const has = (value: unknown) => value !== undefined && value !== null;
  if (thinking === 'required' && has(entry.when_thinking_disabled)) {
    found.push(['when_thinking_disabled', 'contradicts reasoning.thinking: required, which is never disabled']);
  }
  if (thinking === 'unsupported' && (has(entry.when_thinking_enabled) || has(entry.thinking))) {
    const key = has(entry.when_thinking_enabled) ? 'when_thinking_enabled' : 'thinking';
    found.push([key, 'contradicts reasoning.thinking: unsupported']);
  }
  if (thinking === 'unsupported' && entry.supports_thinking) {
    found.push(['supports_thinking', 'contradicts reasoning.thinking: unsupported']);
  }
  if (!has(effort) && entry.supports_reasoning_effort) {
    found.push(['supports_reasoning_effort', 'contradicts reasoning, which has no effort']);
  }
  return [...found, ...templateEffort(entry, contract as ReasoningContract)];
}

/** An effort in a template would go out whatever the menu says. */
function templateEffort(entry: ReasoningKeys, { effort }: ReasoningContract): Array<[string, string]> {
  const path = effort?.path ?? 'reasoning_effort';
  const found: Array<[string, string]> = [];
  for (const key of ['when_thinking_enabled', 'when_thinking_disabled'] as const) {
    const value = valueAt(entry[key], path.split('.'));
    if (value === undefined || value === null) continue;
    if (typeof value === 'string' && effort?.values.includes(value)) continue;
    found.push([key, `holds an effort at ${path} that reasoning.effort.values does not offer`]);
  }
  return found;
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, name) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, name) : undefined),
    value,
  );
}

export const toolConfigSchema = z.looseObject({
  name: z.string().min(1),
  group: z.string().min(1).nullish(),
  use: z.string().min(1),
  max_results: z.int().nullish(),
});

export type ModelConfig = z.output<typeof modelConfigSchema>;
export type ToolConfig = z.output<typeof toolConfigSchema>;
export type RequestAdmission = z.output<typeof requestAdmissionSchema>;
