/** What a model's entry says about its reasoning: one form, whether it has a `reasoning` contract or only two booleans. */

/** The keys of a `models[]` entry that are read here. */
export interface ReasoningEntry {
  readonly [key: string]: unknown;
  readonly supports_thinking: boolean;
  readonly supports_reasoning_effort: boolean;
}

export type ThinkingMode = 'unsupported' | 'optional' | 'required';
/** How a provider is told to think. `auto` follows from the template `when_thinking_enabled`. */
export type ReasoningDialect = (typeof DIALECTS)[number];

export interface EffortContract {
  values: readonly string[];
  default: string | null;
  aliases: Readonly<Record<string, string>>;
  /** Where the value goes in the entry: `extra_body.reasoning_effort`. */
  path: string;
  /** Whether values that are not listed never reach the provider. */
  strict: boolean;
}

export interface ReasoningContract {
  thinking: ThinkingMode;
  /** Null: the model takes no effort. */
  effort: EffortContract | null;
  onDisableRequest: 'keep_enabled' | 'reject';
  dialect: ReasoningDialect;
  history: 'preserve' | 'clear' | null;
  /** Whether the entry says all this itself (`contract`) or it follows from its two booleans. */
  source: 'legacy' | 'contract';
}

/** Words that models without a menu of their own are offered with. */
export const GENERIC_EFFORTS: readonly string[] = ['minimal', 'low', 'medium', 'high'];
export const EFFORT_KEY = 'reasoning_effort';

const MODES = ['unsupported', 'optional', 'required'] as const;
const DIALECTS = ['auto', 'openai_extra_body', 'anthropic', 'vllm_chat_template', 'ollama', 'none'] as const;
const HISTORIES = ['preserve', 'clear'] as const;
const ON_DISABLE = ['keep_enabled', 'reject'] as const;

export function reasoningContract(entry: ReasoningEntry): ReasoningContract {
  const declared = mapping(entry['reasoning']);
  // A plain word, a flag or a mapping of the provider's own goes to it as it is and says nothing about choices.
  if (declared === null || !('thinking' in declared)) return legacyContract(entry);
  return {
    thinking: oneOf(MODES, declared['thinking']) ?? 'unsupported',
    effort: effortContract(mapping(declared['effort'])),
    onDisableRequest: oneOf(ON_DISABLE, declared['on_disable_request']) ?? 'keep_enabled',
    dialect: oneOf(DIALECTS, declared['dialect']) ?? 'auto',
    history: oneOf(HISTORIES, declared['history']),
    source: 'contract',
  };
}

function legacyContract(entry: ReasoningEntry): ReasoningContract {
  return {
    thinking: entry.supports_thinking ? 'optional' : 'unsupported',
    effort: entry.supports_reasoning_effort
      ? { values: GENERIC_EFFORTS, default: null, aliases: {}, path: EFFORT_KEY, strict: false }
      : null,
    onDisableRequest: 'keep_enabled',
    dialect: 'auto',
    history: null,
    source: 'legacy',
  };
}

function effortContract(declared: Readonly<Record<string, unknown>> | null): EffortContract | null {
  if (declared === null) return null;
  const values = Array.isArray(declared['values']) ? declared['values'].filter(isText) : [];
  const aliases = Object.entries(mapping(declared['aliases']) ?? {});
  return {
    values,
    default: isText(declared['default']) ? declared['default'] : null,
    aliases: Object.fromEntries(aliases.filter((alias): alias is [string, string] => isText(alias[1]))),
    path: isText(declared['path']) ? declared['path'] : EFFORT_KEY,
    strict: true,
  };
}

export function mapping(value: unknown): Readonly<Record<string, unknown>> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function oneOf<Word extends string>(words: readonly Word[], value: unknown): Word | null {
  return words.find((word) => word === value) ?? null;
}
