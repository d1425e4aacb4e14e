/** Models that an administrator registers over the API: what is asked for, and what is stored of it. */
import { z } from 'zod';
import { reasoningSchema } from './config/models';

/** Ids are stable: stored records name them. Where each leads is said once, in `models/managed/presets.ts`. */
export const MANAGED_PROVIDERS = [
  'openai',
  'anthropic',
  'deepseek',
  'qwen-cn',
  'doubao',
  'doubao-coding',
  'moonshot-cn',
  'zhipu-cn',
  'zai',
  'minimax',
  'minimax-cn',
  'openai-compatible',
] as const;
export type ManagedProvider = (typeof MANAGED_PROVIDERS)[number];

/** The provider whose address the administrator names; all others are presets. */
export const CUSTOM_PROVIDER = 'openai-compatible' satisfies ManagedProvider;

const MAX_MODEL_CHARS = 200;
const MAX_DISPLAY_NAME_CHARS = 100;
const MAX_BASE_URL_CHARS = 2048;
const MAX_API_KEY_CHARS = 4096;

/** Where a request may carry an effort: none of them reaches an address, a key or a setting of the client. */
const EFFORT_PATHS = ['reasoning_effort', 'extra_body.reasoning_effort', 'output_config.effort', 'effort'];

/** Control characters, and halves of characters that no encoding knows. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}]/u;
/** What interfaces show in place of a key. */
const MASK = /[*•●∙]{3,}|^[.·]+$/u;

/** Length is counted in characters as people see them in a text, not in halves of them. */
function line(max: number) {
  return z
    .string()
    .trim()
    .refine((text) => [...text].length <= max, `must have at most ${max} characters`)
    .refine((text) => !UNPRINTABLE.test(text), 'must not hold control characters');
}

const baseUrlSchema = z
  .string()
  .trim()
  .max(MAX_BASE_URL_CHARS)
  .refine(isPlainAddress, 'must be an http(s) address without credentials, query or fragment')
  .transform((text) => text.replace(/\/+$/, ''));

function isPlainAddress(text: string): boolean {
  if (!/^https?:\/\/[^/?#@\\\s]+(\/[^?#@\\\s]*)?$/i.test(text) || UNPRINTABLE.test(text) || !URL.canParse(text)) {
    return false;
  }
  const { hostname, username, password, port } = new URL(text);
  return hostname !== '' && username === '' && password === '' && port !== '0';
}

const apiKeySchema = z
  .string()
  .trim()
  .max(MAX_API_KEY_CHARS)
  .refine((text) => !MASK.test(text), 'must be a key, not the mask of one')
  .refine((text) => /^[\x21-\x7e]*$/.test(text), 'must be printable ASCII without spaces');

const managedReasoningSchema = reasoningSchema.refine(({ effort }) => !effort || EFFORT_PATHS.includes(effort.path), {
  path: ['effort', 'path'],
  message: `must be one of ${EFFORT_PATHS.join(', ')}`,
});

/** `undefined` and `null` mean the same everywhere but at `base_url`, which presets refuse in any form. */
export const managedModelConfigSchema = z
  .strictObject({
    name: z
      .string()
      .trim()
      .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/)
      .nullish(),
    provider: z.enum(MANAGED_PROVIDERS).default(CUSTOM_PROVIDER),
    display_name: line(MAX_DISPLAY_NAME_CHARS).nullish(),
    model: line(MAX_MODEL_CHARS).refine((text) => text !== '', 'must not be empty'),
    base_url: baseUrlSchema.nullish(),
    /** Left out: as it is. Empty: none any more. */
    api_key: apiKeySchema.nullish(),
    enabled: z.boolean().default(true),
    supports_vision: z.boolean().nullish(),
    context_window: z.int().positive().nullish(),
    max_tokens: z.int().positive().nullish(),
    reasoning: managedReasoningSchema.nullish(),
  })
  .superRefine((config, context) => {
    const fault = (message: string) => context.addIssue({ code: 'custom', path: ['base_url'], message });
    const isCustom = config.provider === CUSTOM_PROVIDER;
    if (!isCustom && 'base_url' in config) fault('must be left out: the provider decides the address');
    if (isCustom && !config.base_url) fault('is needed for this provider');
  });

export const managedModelRequestSchema = z.strictObject({
  config: managedModelConfigSchema,
  /** Null creates; else the revision that the change was made from. */
  expected_revision: z.string().min(1).max(200).nullish(),
});

/** As it is stored. Read leniently: catalogues of other versions hold fewer keys, or more. */
export const managedModelRecordSchema = z.object({
  name: z.string().min(1),
  provider: z.enum(MANAGED_PROVIDERS).default(CUSTOM_PROVIDER),
  display_name: z.string().nullish().default(null),
  model: z.string().min(1),
  base_url: z.string().nullish().default(null),
  api_key: z.string().nullish().default(null),
  enabled: z.boolean().default(true),
  /** Null: as the provider's rules say. */
  supports_vision: z.boolean().nullish().default(null),
  context_window: z.int().positive().nullish().default(null),
  max_tokens: z.int().positive().nullish().default(null),
  reasoning: reasoningSchema.nullish().default(null),
  revision: z.string().min(1),
});

export type ManagedModelConfig = z.output<typeof managedModelConfigSchema>;
export type ManagedModelRequest = z.output<typeof managedModelRequestSchema>;
export type ManagedModelRecord = z.output<typeof managedModelRecordSchema>;
