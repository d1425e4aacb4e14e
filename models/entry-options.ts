/** What the entries of all providers have in common. */
import { AppError } from '../contracts';
import type { ModelConfig } from '../contracts/schemas/config';
import type { AdapterOptions } from './adapter';

/** Keys of an entry with a meaning here; all others are the provider's. */
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

/** The provider's own keys, under the names that the entry has for them. */
export function foreignKeys(entry: ModelConfig): Record<string, unknown> {
  const kept = Object.entries(entry).filter(([key, value]) => !OWN_KEYS.has(key) && value !== null);
  return Object.fromEntries(kept.filter(([, value]) => value !== undefined));
}

/** The provider's own keys, in the form of JavaScript: `top_p` is `topP`. */
export function providerKeys(entry: ModelConfig): Record<string, unknown> {
  return Object.fromEntries(Object.entries(foreignKeys(entry)).map(([key, value]) => [camelCase(key), value]));
}

function camelCase(key: string): string {
  return key.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

type AddressOptions = Pick<AdapterOptions, 'entry' | 'key' | 'log'>;

/** The address of an entry as `cleanAddress` gives it, null for the provider's own. */
export function baseUrlOf(options: AddressOptions, endpoints: readonly string[] = []): string | null {
  const { entry, log } = options;
  const name = entry.base_url ? 'base_url' : 'api_base';
  const address = entry[name];
  if (!address) return null;
  if (entry.base_url && entry.api_base) log.warn({ model: entry.name }, 'base_url wins over api_base');
  return cleanAddress(options, { name, address, endpoints });
}

interface Address {
  /** Its key in the entry. */
  name: string;
  address: string;
  /** Paths that the client adds by itself. */
  endpoints?: readonly string[];
}

/**
 * An address without a slash or an endpoint at its end; what is left out is named in the log. Throws `configuration`
 * for what is no address.
 */
export function cleanAddress({ entry, key, log }: AddressOptions, { name, address, endpoints = [] }: Address): string {
  if (!/^https?:\/\/\S+$/.test(address) || !URL.canParse(address)) {
    throw fault(key, name, 'expected an http:// or https:// address');
  }
  if (/[?#]/.test(address)) {
    const instead = 'parameters of every request go into default_query where the provider takes them';
    throw fault(key, name, `expected an address without ? and #; ${instead}`);
  }
  const base = withoutEnd(address, endpoints);
  if (base !== address) {
    const left = address.slice(base.length);
    log.warn({ model: entry.name, key: name, left }, 'the end of the address is left out: it is put there anyway');
  }
  return base;
}

function withoutEnd(address: string, endpoints: readonly string[]): string {
  const bare = address.replace(/\/+$/, '');
  const pasted = endpoints.find((endpoint) => bare.endsWith(endpoint));
  return pasted === undefined ? bare : bare.slice(0, -pasted.length).replace(/\/+$/, '');
}

function fault(key: string, name: string, expected: string): AppError {
  return new AppError('configuration', `config.yaml: ${key}.${name}: ${expected}`);
}

export function timeoutMsOf(entry: ModelConfig): number | undefined {
  const seconds = entry.request_timeout ?? entry.timeout ?? entry.default_request_timeout;
  return seconds === null || seconds === undefined ? undefined : Math.round(seconds * 1000);
}

/** What goes into the head of every request. */
export function headersOf(entry: ModelConfig): Record<string, string> {
  const headers = entry['default_headers'];
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) return {};
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

/** Names and passwords in an address. */
export function credentialsIn(address: string | null): string[] {
  if (address === null || !URL.canParse(address)) return [];
  const { username, password } = new URL(address);
  return secretsOf(username, password, decoded(password));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function secretsOf(...values: unknown[]): string[] {
  return values.filter((value): value is string => typeof value === 'string' && value !== '');
}
