/** How the switch of thinking is written for each kind of provider. */
import type { ReasoningContract, ReasoningDialect } from '../../core/reasoning';
import { mapping } from '../../core/reasoning';
import type { Settings } from './merge';
import { deepMerge } from './merge';

type SpokenDialect = Exclude<ReasoningDialect, 'auto'>;

/** The two names under which chat templates know the switch. */
const TEMPLATE_SWITCHES = ['thinking', 'enable_thinking'] as const;

/** The dialect of the template that an operator wrote; `none` where it has no switch that is known here. */
export function inferDialect(template: Settings): SpokenDialect {
  const body = mapping(template['extra_body']) ?? {};
  if (mapping(body['thinking']) !== null) return 'openai_extra_body';
  if (templateSwitches(body).length > 0) return 'vllm_chat_template';
  if (mapping(template['thinking']) !== null) return 'anthropic';
  return ['boolean', 'string'].includes(typeof template['reasoning']) ? 'ollama' : 'none';
}

/** The settings that turn thinking on. */
export function enabling(dialect: SpokenDialect, history: ReasoningContract['history']): Settings {
  switch (dialect) {
    case 'openai_extra_body': {
      const clear = history === null ? {} : { clear_thinking: history === 'clear' };
      return { extra_body: { thinking: { type: 'enabled', ...clear } } };
    }
    case 'anthropic':
      return { thinking: { type: 'enabled' } };
    case 'vllm_chat_template':
      return { extra_body: { chat_template_kwargs: { enable_thinking: true } } };
    case 'ollama':
      return { reasoning: true };
    case 'none':
      return {};
  }
}

/** The settings that turn thinking off, under the names of the template too where it speaks the same dialect. */
export function disablingLike(dialect: SpokenDialect, template: Settings): Settings {
  const same = inferDialect(template) === dialect;
  return deepMerge(disabling(dialect), same ? disablingTemplate(template) : {});
}

function disabling(dialect: SpokenDialect): Settings {
  switch (dialect) {
    case 'openai_extra_body':
      return { extra_body: { thinking: { type: 'disabled' } } };
    case 'anthropic':
      return { thinking: { type: 'disabled' } };
    case 'vllm_chat_template':
      return { extra_body: { chat_template_kwargs: { enable_thinking: false } } };
    case 'ollama':
      return { reasoning: false };
    case 'none':
      return {};
  }
}

/** Turns off what the template turns on, under the names that it uses. */
export function disablingTemplate(template: Settings): Settings {
  const body = mapping(template['extra_body']) ?? {};
  if (hasType(body['thinking'])) return disabling('openai_extra_body');
  const switches = templateSwitches(body);
  if (switches.length > 0) {
    return { extra_body: { chat_template_kwargs: Object.fromEntries(switches.map((name) => [name, false])) } };
  }
  return hasType(template['thinking']) ? disabling('anthropic') : {};
}

/**
 * Merges settings about thinking. Servers differ in which name of the switch they read: where the entry has one name
 * and what is merged the other, both get the merged value, so that no server sees the old one.
 */
export function mergeThinking(settings: Settings, over: Settings): Record<string, unknown> {
  const merged = deepMerge(settings, over);
  const said = templateKwargs(over['extra_body']);
  const names = templateSwitches(mapping(merged['extra_body']) ?? {});
  const [spoken] = TEMPLATE_SWITCHES.filter((name) => name in said);
  if (spoken === undefined || names.length < 2) return merged;
  const mirrored = Object.fromEntries(names.filter((name) => !(name in said)).map((name) => [name, said[spoken]]));
  return deepMerge(merged, { extra_body: { chat_template_kwargs: mirrored } });
}

function templateSwitches(body: Settings): string[] {
  const kwargs = templateKwargs(body);
  return TEMPLATE_SWITCHES.filter((name) => name in kwargs);
}

function templateKwargs(body: unknown): Settings {
  return mapping(mapping(body)?.['chat_template_kwargs']) ?? {};
}

function hasType(thinking: unknown): boolean {
  return Boolean(mapping(thinking)?.['type']);
}
