/** What the entries of all these providers have in common. */
import { AppError } from '../../contracts';
import type { ModelConfig } from '../../contracts/schemas/config';

/** Keys of an entry with a meaning of their own; all others are the provider's. */
const OWN_KEYS = new Set([
  'name',
  'display_name',
  'description',
  'use',
  'model',
  'api_key',
  'base_url',
  'api_base',
  'max_tokens',
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
  'request_admission',
  'use_responses_api',
  'output_version',
]);

/** An address without a slash at its end; null for the provider's own. */
export function baseUrlOf(entry: ModelConfig, key: string): string | null {
  const address = entry.base_url || entry.api_base;
  if (!address) return null;
  if (!/^https?:\/\//.test(address) || !URL.canParse(address)) {
    throw new AppError('configuration', `config.yaml: ${key}.base_url: expected an http:// or https:// address`);
  }
  return address.replace(/\/+$/, '');
}

export function timeoutMsOf(entry: ModelConfig): number | undefined {
  const seconds = entry.request_timeout ?? entry.timeout ?? entry.default_request_timeout;
  return seconds === null || seconds === undefined ? undefined : Math.round(seconds * 1000);
}

/** The provider's own keys, in the form of JavaScript: `top_p` is `topP`. */
export function providerKeys(entry: ModelConfig): Record<string, unknown> {
  const kept = Object.entries(entry).filter(([key, value]) => !OWN_KEYS.has(key) && value !== null);
  return Object.fromEntries(kept.map(([key, value]) => [camelCase(key), value]));
}

function camelCase(key: string): string {
  return key.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

export function secretsOf(...values: unknown[]): string[] {
  return values.filter((value): value is string => typeof value === 'string' && value !== '');
}
