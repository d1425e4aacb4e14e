/** Works what a request wants of a model's reasoning into the model's entry. Pure. */
import type { ModelConfig } from '../../contracts/schemas/config';
import type { ReasoningAdjustment, ReasoningContract, ReasoningWish } from '../../core/reasoning';
import { EFFORT_KEY, fitWish, mapping, reasoningContract } from '../../core/reasoning';
import { disablingLike, disablingTemplate, enabling, inferDialect, mergeThinking } from './dialects';
import type { Settings } from './merge';
import { deepMerge, withPath } from './merge';

export interface AppliedReasoning {
  /** What is left of the reasoning keys is for the provider: `thinking`, `reasoning`, `reasoning_effort`, `extra_body`. */
  entry: ModelConfig;
  adjustments: ReasoningAdjustment[];
}

/** The effort that goes out while thinking is turned off by a body's `thinking`. */
const LEAST_EFFORT = 'minimal';
/** Its endpoint has no switch: an effort takes its place. */
const WITHOUT_SWITCH = 'deerflow.models.openai_codex_provider:CodexChatModel';

/** What an entry says beside its profile. */
interface Templates {
  enabled: Settings;
  disabled: Settings | null;
}

/** @throws AppError `thinking_required` where the entry rules out what is wanted. */
export function applyReasoning(entry: ModelConfig, wish: ReasoningWish): AppliedReasoning {
  const contract = reasoningContract(entry);
  const { thinking, effort, adjustments } = fitWish(entry.name, contract, wish);
  const templates = templatesOf(entry);
  const profile = profileOf(entry, contract);
  const settings =
    contract.source === 'contract'
      ? declared({ contract, profile, templates, thinking, effort })
      : legacy({ contract, profile, templates, thinking, effort });
  if (entry.use === WITHOUT_SWITCH && thinking === false) settings[EFFORT_KEY] = 'none';
  return { entry: settings as ModelConfig, adjustments };
}

interface Applying {
  contract: ReasoningContract;
  profile: Settings;
  templates: Templates;
  thinking: boolean | null;
  effort: string | null;
}

/** An entry with a contract. The validated effort is written last: it wins over every template. */
function declared({ contract, profile, templates, thinking, effort }: Applying): Record<string, unknown> {
  const dialect = contract.dialect === 'auto' ? inferDialect(templates.enabled) : contract.dialect;
  let settings: Record<string, unknown> = { ...profile };
  if (thinking === true) {
    const payload = mergeThinking(enabling(dialect, contract.history), templates.enabled);
    settings = mergeThinking(settings, payload);
  }
  if (thinking === false) {
    // A model that cannot think knows no switch either.
    const payload = contract.thinking === 'unsupported' ? {} : disablingLike(dialect, templates.enabled);
    settings = mergeThinking(settings, templates.disabled ?? payload);
  }
  if (contract.effort === null) delete settings[EFFORT_KEY];
  return contract.effort === null || effort === null ? settings : withPath(settings, contract.effort.path, effort);
}

/** An entry with the two booleans: its templates have the last word, also about the effort. */
function legacy({ contract, profile, templates, thinking, effort }: Applying): Record<string, unknown> {
  let settings: Record<string, unknown> = effort === null ? { ...profile } : { ...profile, [EFFORT_KEY]: effort };
  if (thinking === true) settings = mergeThinking(settings, templates.enabled);
  if (thinking === false) {
    const switchedOff = disablingTemplate(templates.enabled);
    settings = mergeThinking(settings, templates.disabled ?? switchedOff);
    const byBody = mapping(mapping(switchedOff['extra_body'])?.['thinking']) !== null;
    if (templates.disabled === null && byBody) settings[EFFORT_KEY] = LEAST_EFFORT;
  }
  if (contract.effort === null) delete settings[EFFORT_KEY];
  return settings;
}

/** `thinking` at the top of an entry is short for the same key of the enabling template. */
function templatesOf(entry: ModelConfig): Templates {
  const enabled = mapping(entry['when_thinking_enabled']) ?? {};
  const thinking = mapping(entry['thinking']);
  return {
    enabled: thinking === null ? enabled : deepMerge(enabled, { thinking }),
    disabled: mapping(entry['when_thinking_disabled']),
  };
}

/** The entry without what only describes its reasoning. */
function profileOf(entry: ModelConfig, contract: ReasoningContract): Settings {
  const described = ['when_thinking_enabled', 'when_thinking_disabled', 'thinking'];
  if (contract.source === 'contract') described.push('reasoning');
  return Object.fromEntries(Object.entries(entry).filter(([key]) => !described.includes(key)));
}
