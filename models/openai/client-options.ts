/** A `models[]` entry as the options of LangChain's client. */
import type { ChatOpenAIFields } from '@langchain/openai';
import { AppError } from '../../contracts';
import type { ModelConfig } from '../../contracts/schemas/config';

export interface ClientOptions {
  fields: ChatOpenAIFields;
  /** Texts that must never appear in a message. */
  secrets: string[];
  /** Keys of the entry that nothing here understands. */
  unknownKeys: string[];
}

/** Keys that go into the request body under the same name. */
const BODY_KEYS = [
  'top_p',
  'frequency_penalty',
  'presence_penalty',
  'seed',
  'stop',
  'user',
  'logit_bias',
  'parallel_tool_calls',
  'reasoning_effort',
  'service_tier',
  'verbosity',
];

/** Keys with a meaning elsewhere, or that mean nothing to this wire. */
const OTHER_KEYS = [
  'name',
  'display_name',
  'description',
  'use',
  'model',
  'api_key',
  'base_url',
  'api_base',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'timeout',
  'request_timeout',
  'default_request_timeout',
  'stream_chunk_timeout',
  'stream_usage',
  'max_retries',
  'supports_thinking',
  'supports_reasoning_effort',
  'supports_vision',
  'reasoning',
  'when_thinking_enabled',
  'when_thinking_disabled',
  'thinking',
  'context_window',
  'pricing',
  'default_headers',
  'default_query',
  'organization',
  'openai_organization',
  'model_kwargs',
  'extra_body',
  'output_version',
  'use_responses_api',
];

export function toClientOptions(entry: ModelConfig, key: string, defaultBaseUrl: string | null): ClientOptions {
  if (entry.use_responses_api === true) {
    throw new AppError(
      'configuration',
      `config.yaml: ${key}.use_responses_api: expected false; only chat completions are built`,
    );
  }
  const baseUrl = text(entry.base_url) ?? text(entry.api_base) ?? defaultBaseUrl;
  if (baseUrl !== null && !/^https?:\/\//.test(baseUrl)) {
    throw new AppError('configuration', `config.yaml: ${key}.base_url: expected an http:// or https:// address`);
  }
  const apiKey = text(entry.api_key);
  const seconds = entry.request_timeout ?? entry.timeout ?? number(entry.default_request_timeout);
  const maxTokens = entry.max_tokens ?? number(entry.max_completion_tokens);
  const organization = text(entry.organization) ?? text(entry.openai_organization);
  return {
    fields: {
      model: entry.model,
      streaming: true,
      streamUsage: entry.stream_usage ?? true,
      maxRetries: 0,
      ...(apiKey === null ? {} : { apiKey }),
      ...(maxTokens === null ? {} : { maxTokens }),
      ...(entry.temperature === null || entry.temperature === undefined ? {} : { temperature: entry.temperature }),
      ...(seconds === null ? {} : { timeout: Math.round(seconds * 1000) }),
      modelKwargs: { ...bodyKeys(entry), ...record(entry.model_kwargs), ...record(entry.extra_body) },
      configuration: {
        // The library would print bodies that it cannot read.
        logLevel: 'off',
        ...(baseUrl === null ? {} : { baseURL: baseUrl }),
        ...(organization === null ? {} : { organization }),
        defaultHeaders: stringRecord(entry.default_headers),
        defaultQuery: stringRecord(entry.default_query),
      },
    },
    secrets: [apiKey, ...credentials(baseUrl), ...Object.values(stringRecord(entry.default_headers))].filter(
      (secret) => secret !== null,
    ),
    unknownKeys: Object.keys(entry).filter((name) => !BODY_KEYS.includes(name) && !OTHER_KEYS.includes(name)),
  };
}

function bodyKeys(entry: ModelConfig): Record<string, unknown> {
  const present = BODY_KEYS.filter((name) => entry[name] !== undefined && entry[name] !== null);
  return Object.fromEntries(present.map((name) => [name, entry[name]]));
}

function credentials(baseUrl: string | null): string[] {
  if (baseUrl === null || !URL.canParse(baseUrl)) return [];
  const { username, password } = new URL(baseUrl);
  return [username, password, decoded(password)].filter((part) => part !== '');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}

function number(value: unknown): number | null {
  return typeof value === 'number' && value > 0 ? value : null;
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function stringRecord(value: unknown): Record<string, string> {
  return Object.fromEntries(Object.entries(record(value)).map(([name, item]) => [name, String(item)]));
}
