/** What users may know of the configured models: never a key or an address. */
import { z } from 'zod';
import type { Config, ModelConfig } from '../contracts/schemas/config';

export interface PublicModel {
  name: string;
  model: string;
  display_name: string;
  description: string | null;
  supports_thinking: boolean;
  supports_reasoning_effort: boolean;
  reasoning: PublicReasoning;
}

export interface PublicReasoning {
  thinking: 'unsupported' | 'optional' | 'required';
  effort: { values: string[]; default: string | null; aliases: Record<string, string> } | null;
  history: 'preserve' | 'clear' | null;
  /** Whether the entry says all this itself (`contract`) or it follows from its two booleans. */
  source: 'legacy' | 'contract';
}

/** Words that models without a menu of their own are offered with. */
const GENERIC_EFFORTS = ['minimal', 'low', 'medium', 'high'];

/** The keys of `models[].reasoning` that are shown; the others are about how a provider is asked. */
const reasoningContractSchema = z.object({
  thinking: z.enum(['unsupported', 'optional', 'required']),
  history: z.enum(['preserve', 'clear']).nullish(),
  effort: z
    .object({
      values: z.array(z.string()).min(1),
      default: z.string().nullish(),
      aliases: z.record(z.string(), z.string()).nullish(),
    })
    .nullish(),
});

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
  return {
    name: entry.name,
    model: entry.model,
    // Without it, the button of the model is blank in web interfaces.
    display_name: entry.display_name ?? entry.name,
    description: entry.description ?? null,
    supports_thinking: entry.supports_thinking,
    supports_reasoning_effort: entry.supports_reasoning_effort,
    reasoning: reasoningOf(entry),
  };
}

function reasoningOf(entry: ModelConfig): PublicReasoning {
  const { success, data } = reasoningContractSchema.safeParse(entry['reasoning']);
  // A plain word or flag goes to the provider as it is and says nothing about choices.
  if (!success) return legacyReasoning(entry);
  const effort = data.effort ?? null;
  return {
    thinking: data.thinking,
    effort: effort && { values: effort.values, default: effort.default ?? null, aliases: effort.aliases ?? {} },
    history: data.history ?? null,
    source: 'contract',
  };
}

function legacyReasoning(entry: ModelConfig): PublicReasoning {
  return {
    thinking: entry.supports_thinking ? 'optional' : 'unsupported',
    effort: entry.supports_reasoning_effort ? { values: GENERIC_EFFORTS, default: null, aliases: {} } : null,
    history: null,
    source: 'legacy',
  };
}
