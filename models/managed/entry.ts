import type { ModelConfig } from '../../contracts/schemas/config';
import type { ManagedModelRecord } from '../../contracts/schemas/managed-models';
import { DEEPSEEK_USE, PRESETS, capabilitiesOf, isDeepSeekAddress } from './presets';

/** Without a key the client would take one of the process's environment, and send it to a stranger's address. */
const NO_KEY = 'not-required';

/** The `models[]` entry that a record stands for: it takes the same way to a provider as one of `config.yaml`. */
export function toModelEntry(record: ManagedModelRecord): ModelConfig {
  const { name, provider, model, api_key, reasoning, supports_vision, context_window, max_tokens } = record;
  const preset = PRESETS[provider];
  const known = capabilitiesOf(provider, model) ?? {};
  const contract = reasoning ?? known.reasoning;
  const window = context_window ?? known.context_window;
  const cap = max_tokens ?? preset.defaults.max_tokens;
  return {
    name,
    display_name: record.display_name || name,
    use: useOf(record),
    model,
    api_key: api_key || NO_KEY,
    base_url: preset.baseUrl ?? record.base_url,
    supports_thinking: contract ? thinks(contract) : false,
    supports_reasoning_effort: typeof contract === 'object' && contract !== null && Boolean(contract.effort),
    supports_vision: supports_vision ?? known.supports_vision ?? false,
    ...(preset.defaults.temperature === undefined ? {} : { temperature: preset.defaults.temperature }),
    ...(window ? { context_window: window } : {}),
    ...(cap ? { max_tokens: cap } : {}),
    ...(contract ? { reasoning: contract } : {}),
  };
}

function useOf({ provider, base_url }: ManagedModelRecord): string {
  const { baseUrl, use } = PRESETS[provider];
  return baseUrl === null && isDeepSeekAddress(base_url ?? '') ? DEEPSEEK_USE : use;
}

function thinks(contract: NonNullable<ModelConfig['reasoning']>): boolean {
  return typeof contract === 'object' && 'thinking' in contract && contract.thinking !== 'unsupported';
}

/** Whether thinking cannot be turned off. */
export function mustThink({ reasoning }: ModelConfig): boolean {
  return (
    typeof reasoning === 'object' && reasoning !== null && 'thinking' in reasoning && reasoning.thinking === 'required'
  );
}
