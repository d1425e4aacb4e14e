/** What users may know of the configured models: never a key or an address. */
import type { Config, ModelConfig } from '../contracts/schemas/config';
import { reasoningContract } from '../core/reasoning';
import type { ThinkingMode } from '../core/reasoning';

export interface PublicModel {
  name: string;
  model: string;
  display_name: string;
  description: string | null;
  supports_thinking: boolean;
  supports_reasoning_effort: boolean;
  reasoning: PublicReasoning;
}

/** What can be chosen. How a provider is asked is nobody's business. */
export interface PublicReasoning {
  thinking: ThinkingMode;
  effort: { values: string[]; default: string | null; aliases: Record<string, string> } | null;
  history: 'preserve' | 'clear' | null;
  source: 'legacy' | 'contract';
}

/** Takes the place of a model while none is configured, so that the product can be tried without a key. */
const DEMO_MODEL: PublicModel = {
  name: 'demo',
  model: 'demo',
  display_name: 'Demo (offline)',
  description: 'Built in, works without a provider: reads your files and writes a report about them.',
  supports_thinking: false,
  supports_reasoning_effort: false,
  reasoning: { thinking: 'unsupported', effort: null, history: null, source: 'legacy' },
};

export function listPublicModels(config: Config): PublicModel[] {
  return config.models.length === 0 ? [DEMO_MODEL] : config.models.map(publicModel);
}

function publicModel(entry: ModelConfig): PublicModel {
  const { thinking, effort, history, source } = reasoningContract(entry);
  return {
    name: entry.name,
    model: entry.model,
    // Without it, the button of the model is blank in web interfaces.
    display_name: entry.display_name ?? entry.name,
    description: entry.description ?? null,
    // Interfaces that know only the two booleans must see what the contract says.
    supports_thinking: thinking !== 'unsupported',
    supports_reasoning_effort: effort !== null,
    reasoning: {
      thinking,
      effort: effort && { values: [...effort.values], default: effort.default, aliases: { ...effort.aliases } },
      history,
      source,
    },
  };
}
