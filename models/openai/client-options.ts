/** A `models[]` entry as the options of LangChain's client. */
import type { ChatOpenAIFields } from '@langchain/openai';
import { AppError } from '../../contracts';
import type { ModelConfig } from '../../contracts/schemas/config';
import type { AdapterOptions } from '../adapter';
import { baseUrlOf, credentialsIn, foreignKeys, headersOf, secretsOf, timeoutMsOf } from '../entry-options';

export interface ClientOptions {
  fields: ChatOpenAIFields;
  /** What goes into every request body as it is. */
  body: Record<string, unknown>;
  /** Texts that must never appear in a message. */
  secrets: string[];
}

/** The name under which a server takes the longest reply. */
export type TokenLimit = 'max_tokens' | 'max_completion_tokens';

export interface ClientForm {
  defaultBaseUrl?: string;
  /** By the model and the address unless given. */
  tokenLimit?: TokenLimit;
  /** More keys of an entry that are no part of a request. */
  ownKeys?: readonly string[];
  /** What every request carries, unless the entry says otherwise. */
  body?: Record<string, unknown>;
  /** Whether this is the client of the Responses API. */
  speaksResponses?: boolean;
}

type Input = Pick<AdapterOptions, 'entry' | 'key' | 'log'>;

/** Addresses as they are copied out of documents; the client adds these paths itself. */
const ENDPOINTS = ['/chat/completions', '/responses'];

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

/** Keys that say how the client works. */
const CLIENT_KEYS = [
  // The last usage of a stream counts, so it makes no difference here.
  'cumulative_stream_usage',
  'max_completion_tokens',
  'default_headers',
  'default_query',
  'organization',
  'openai_organization',
  'model_kwargs',
  'extra_body',
];

/** Keys of DeerFlow's classes that have no counterpart here, and parts of a request that only a run decides on. */
const NEVER_SENT = [
  ...['cache', 'callbacks', 'custom_get_token_ids', 'disable_streaming', 'disabled_params', 'metadata', 'profile'],
  ...['rate_limiter', 'streaming', 'tags', 'tiktoken_model_name', 'verbose', 'model_name'],
  ...['http_async_client', 'http_client', 'http_socket_options', 'include_response_headers', 'openai_proxy'],
  ...['openai_api_base', 'function_call', 'functions', 'messages', 'stream', 'stream_options', 'tool_choice', 'tools'],
];

/** Whatever such a key is for, a request body is no place for it. */
const SECRET_KEY = /(^|_)(api_?key|token|secret|password)$/i;

/** @throws AppError `configuration` where the entry cannot be used. */
export function toClientOptions({ entry, key, log }: Input, form: ClientForm = {}): ClientOptions {
  if (entry.use_responses_api === true && form.speaksResponses !== true) {
    const expected = 'expected false; langchain_openai:ChatOpenAI is the class that speaks the Responses API';
    throw new AppError('configuration', `config.yaml: ${key}.use_responses_api: ${expected}`);
  }
  const baseUrl = baseUrlOf({ entry, key, log }, ENDPOINTS) ?? form.defaultBaseUrl ?? null;
  const apiKey = entry.api_key || null;
  const timeout = timeoutMsOf(entry);
  const organization = text(entry.organization) ?? text(entry.openai_organization);
  const headers = headersOf(entry);
  return {
    fields: {
      model: entry.model,
      streaming: true,
      streamUsage: entry.stream_usage ?? true,
      maxRetries: 0,
      ...(apiKey === null ? {} : { apiKey }),
      ...(typeof entry.temperature === 'number' ? { temperature: entry.temperature } : {}),
      ...(timeout === undefined ? {} : { timeout }),
      configuration: {
        // The library would print bodies that it cannot read.
        logLevel: 'off',
        ...(baseUrl === null ? {} : { baseURL: baseUrl }),
        ...(organization === null ? {} : { organization }),
        defaultHeaders: headers,
        defaultQuery: stringRecord(entry.default_query),
      },
    },
    body: {
      ...form.body,
      ...tokenLimit(entry, form.tokenLimit ?? usualTokenLimit(entry.model, baseUrl)),
      ...ownBody({ entry, key, log }, form.ownKeys ?? []),
      ...record(entry.model_kwargs),
      ...record(entry.extra_body),
    },
    secrets: secretsOf(apiKey, ...credentialsIn(baseUrl), ...Object.values(headers)),
  };
}

/** Keys that nothing here knows may be the server's: they are sent, and named in the log for when they are mistakes. */
function ownBody({ entry, log }: Input, ownKeys: readonly string[]): Record<string, unknown> {
  const keys = Object.entries(foreignKeys(entry)).filter(
    ([name]) => !CLIENT_KEYS.includes(name) && !ownKeys.includes(name),
  );
  const isSent = (name: string) => BODY_KEYS.includes(name) || !(NEVER_SENT.includes(name) || SECRET_KEY.test(name));
  const sent = keys.filter(([name]) => isSent(name));
  const unknown = sent.map(([name]) => name).filter((name) => !BODY_KEYS.includes(name));
  const lost = keys.map(([name]) => name).filter((name) => !isSent(name));
  const { name: model } = entry;
  if (unknown.length > 0) log.warn({ model, keys: unknown }, 'unknown keys of a model entry are sent as they are');
  if (lost.length > 0) log.warn({ model, keys: lost }, 'keys of a model entry have no effect');
  return Object.fromEntries(sent);
}

function tokenLimit(entry: ModelConfig, name: TokenLimit): Partial<Record<TokenLimit, number>> {
  const exact = entry.max_completion_tokens;
  if (typeof exact === 'number' && exact > 0) return { max_completion_tokens: exact };
  return entry.max_tokens ? { [name]: entry.max_tokens } : {};
}

/** OpenAI, and its reasoning models anywhere, want the new name. Servers that only speak like it may not know it. */
function usualTokenLimit(model: string, baseUrl: string | null): TokenLimit {
  const isOpenAi = baseUrl === null || new URL(baseUrl).hostname === 'api.openai.com';
  const reasons = /^(openai\/)?(o\d|gpt-5(?!-chat))/.test(model);
  return isOpenAi || reasons ? 'max_completion_tokens' : 'max_tokens';
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function stringRecord(value: unknown): Record<string, string> {
  return Object.fromEntries(Object.entries(record(value)).map(([name, item]) => [name, String(item)]));
}
