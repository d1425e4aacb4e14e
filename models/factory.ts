/** From `models[]` to chat models. */
import { AppError } from '../contracts';
import type { Config, ModelConfig } from '../contracts/schemas/config';
import type { ReasoningAdjustment, ReasoningWish } from '../core/reasoning';
import type { ModelLog } from './adapter';
import type { ChatModel } from './chat-model';
import { ADAPTERS, findAdapter } from './adapters';
import { keepSecrets } from './entry-secrets';
import { refuseConflictingPace } from './pacing';
import { applyReasoning } from './reasoning';

export interface ChatModelFactory {
  /** Names in the order of the configuration; the first is the default. */
  names(): string[];
  /**
   * The model of that name, set up for what is wanted of its reasoning. An unknown name gets the default, with a
   * warning in the log. Throws `thinking_required` where the model rules the wish out.
   */
  resolve(name?: string | null, wish?: ReasoningWish): ChatModel;
  /** How that model changes the wish to fit it. */
  adjustments(name: string | null | undefined, wish: ReasoningWish): ReasoningAdjustment[];
}

export interface ChatModelFactoryOptions {
  config: Config;
  /** Address of the built-in demo model, offered while no model is configured. */
  demoBaseUrl?: string;
  /** Variables of the process, for adapters that look for a login there. */
  env?: Readonly<Record<string, string | undefined>>;
  log: ModelLog;
}

const NO_WISH: ReasoningWish = { thinking: null, effort: null };
/** Wishes come from requests; a model that has to be built again loses nothing but its caches. */
const MOST_MODELS = 200;

export function createChatModelFactory({
  config,
  demoBaseUrl,
  env = {},
  log,
}: ChatModelFactoryOptions): ChatModelFactory {
  const demo = config.models.length === 0 && demoBaseUrl !== undefined;
  const entries = demo ? [demoEntry(demoBaseUrl)] : config.models;
  const models = new Map<string, ChatModel>();

  function build(configured: ModelConfig, wish: ReasoningWish): ChatModel {
    const key = demo ? 'models' : `models[${config.models.indexOf(configured)}]`;
    const adapter = findAdapter(configured.use);
    if (adapter === undefined) throw unknownClass(key, configured.use);
    refuseConflictingPace(configured, config.models);
    const { entry, adjustments } = applyReasoning(configured, wish);
    if (adjustments.length > 0) log.warn({ model: entry.name, adjustments }, 'the request was fitted to the model');
    const seconds = positive(entry.stream_chunk_timeout) ?? config.runs.model_stall_timeout_seconds;
    const model = adapter.create({ entry, key, stallTimeoutMs: Math.ceil(seconds * 1000), env, log });
    return keepSecrets(model, entry);
  }

  function find(name: string | null | undefined): ModelConfig {
    const [first] = entries;
    if (first === undefined) {
      throw new AppError('model_not_configured', 'config.yaml: models: expected at least one model');
    }
    const wanted = name === undefined || name === null ? first : entries.find((entry) => entry.name === name);
    if (wanted === undefined) log.warn({ model: name, instead: first.name }, 'no such model; the default is used');
    return wanted ?? first;
  }

  return {
    names: () => entries.map(({ name }) => name),
    resolve(name, wish = NO_WISH) {
      const entry = find(name);
      const key = JSON.stringify([entry.name, wish.thinking, wish.effort]);
      const known = models.get(key);
      if (known !== undefined) return known;
      const model = build(entry, wish);
      if (models.size >= MOST_MODELS) models.clear();
      models.set(key, model);
      return model;
    },
    adjustments: (name, wish) => applyReasoning(find(name), wish).adjustments,
  };
}

/** Classes of Python's packages have namesakes in packages of JavaScript, which can be installed. */
function unknownClass(key: string, use: string): AppError {
  const known = ADAPTERS.flatMap(({ uses }) => uses).join(', ');
  const [, family, exported] = /^langchain_([a-z0-9_]+)(?:\.[\w.]+)?:(\w+)$/.exec(use) ?? [];
  const packageName = family === undefined ? null : `@langchain/${family.replaceAll('_', '-')}`;
  const install =
    packageName === null
      ? ''
      : `; of another package: npm install ${packageName}, and write npm:${packageName}#${exported}`;
  return new AppError('configuration', `config.yaml: ${key}.use: expected one of ${known}${install}`);
}

function demoEntry(baseUrl: string): ModelConfig {
  return {
    name: 'demo',
    display_name: 'Demo (offline)',
    description: 'Built in, works without a provider: reads your files and writes a report about them.',
    use: 'langchain_openai:ChatOpenAI',
    model: 'demo',
    // The client insists on a key; the demo model does not look at it.
    api_key: 'unused',
    base_url: baseUrl,
    supports_thinking: false,
    supports_reasoning_effort: false,
    supports_vision: false,
  };
}

function positive(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : null;
}
