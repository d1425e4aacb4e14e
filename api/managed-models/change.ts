/** What a request makes of a record: the rules about keys, providers and addresses. Pure. */
import { CUSTOM_PROVIDER } from '../../contracts/schemas/managed-models';
import type {
  ManagedModelConfig,
  ManagedModelRecord,
  ManagedModelRequest,
  ManagedProvider,
} from '../../contracts/schemas/managed-models';
import { PRESETS } from '../../models/managed';
import { RequestValidationError } from '../http/validation';

const MAX_DISPLAY_NAME_CHARS = 100;
/** Of a draft that has no name yet. */
const DRAFT_NAME = 'draft';

/** The name that the request is about; null where one is to be made. A draft is tested and not kept: it may lack a key. */
export function assertComplete(
  { config, expected_revision }: ManagedModelRequest,
  { draft = false } = {},
): string | null {
  const name = config.name ?? null;
  const creates = (expected_revision ?? null) === null;
  if (!creates && name === null) throw refused('name', 'Field required', 'missing');
  if (creates && !draft && PRESETS[config.provider].needsKey && !config.api_key) {
    throw refused('api_key', 'a key is needed for this provider');
  }
  return name;
}

interface RecordOptions {
  name: string;
  revision: string;
  previous: ManagedModelRecord | null;
}

/** Throws a fault of the request where its key does not fit. A key never goes along to another connection. */
export function toRecord(config: ManagedModelConfig, { name, revision, previous }: RecordOptions): ManagedModelRecord {
  refuseVariables(config);
  const api_key = keyOf(config, previous);
  if (config.enabled && PRESETS[config.provider].needsKey && api_key === null) {
    throw refused('api_key', 'a key is needed for this provider; disable the model before its key is cleared');
  }
  return { ...withDefaults(config), name, revision, api_key };
}

/** Such a text would be taken for a variable of the server's environment where the model is used. */
const VARIABLE = /^\$[A-Za-z_][A-Za-z0-9_]*$/;

function refuseVariables(config: ManagedModelConfig): void {
  for (const key of ['model', 'display_name', 'api_key'] as const) {
    if (VARIABLE.test(config[key] ?? '')) throw refused(key, 'must not be the name of a variable');
  }
}

/** The record to try: a key that is missing is the probe's to tell. The connection was compared before. */
export function probedRecord(config: ManagedModelConfig, previous: ManagedModelRecord | null): ManagedModelRecord {
  const kept = previous !== null && connectionOf(config) === connectionOf(previous) ? previous.api_key : null;
  const api_key = (config.api_key ?? kept) || null;
  return { ...withDefaults(config), name: config.name ?? DRAFT_NAME, revision: DRAFT_NAME, api_key };
}

function keyOf(config: ManagedModelConfig, previous: ManagedModelRecord | null): string | null {
  const sent = config.api_key ?? null;
  if (sent !== null) return sent === '' ? null : sent;
  if (previous === null) return null;
  if (connectionOf(config) === connectionOf(previous)) return previous.api_key || null;
  if (previous.api_key || PRESETS[config.provider].needsKey) {
    throw refused('api_key', 'another provider or address needs its own key');
  }
  return null;
}

function withDefaults(config: ManagedModelConfig): Omit<ManagedModelRecord, 'name' | 'revision' | 'api_key'> {
  const { provider, model, enabled } = config;
  return {
    provider,
    model,
    enabled,
    display_name: config.display_name || displayNameOf(provider, model),
    base_url: config.base_url ?? null,
    supports_vision: config.supports_vision ?? null,
    context_window: config.context_window ?? null,
    max_tokens: config.max_tokens ?? null,
    reasoning: config.reasoning ?? null,
  };
}

function displayNameOf(provider: ManagedProvider, model: string): string {
  return [...`${PRESETS[provider].label} / ${model}`].slice(0, MAX_DISPLAY_NAME_CHARS).join('');
}

interface Connected {
  provider: ManagedProvider;
  base_url?: string | null | undefined;
}

/** Equal where a key for the one is a key for the other. */
export function connectionOf({ provider, base_url }: Connected): string {
  if (provider !== CUSTOM_PROVIDER) return provider;
  const address = base_url ?? '';
  return `${provider} ${URL.canParse(address) ? new URL(address).href.replace(/\/+$/, '') : address}`;
}

function refused(key: string, problem: string, type = 'value_error'): RequestValidationError {
  const msg = type === 'missing' ? problem : `Value error, ${problem}`;
  return new RequestValidationError([{ type, loc: ['body', 'config', key], msg, input: undefined }]);
}
