/** From `models[]` to chat models. */
import { AppError } from '../contracts';
import type { Config, ModelConfig } from '../contracts/schemas/config';
import type { Logger } from '../observability';
import type { ChatModel } from './chat-model';
import { createOpenAiChatModel, toClientOptions } from './openai';

export interface ChatModelFactory {
  /** Names in the order of the configuration; the first is the default. */
  names(): string[];
  /** The model of that name. An unknown name gets the default, with a warning in the log. */
  resolve(name?: string | null): ChatModel;
}

export interface ChatModelFactoryOptions {
  config: Config;
  /** Address of the built-in demo model, offered while no model is configured. */
  demoBaseUrl?: string;
  log: Logger;
}

interface Adapter {
  defaultBaseUrl: string | null;
  echoReasoning: boolean;
}

const DEEPSEEK: Adapter = { defaultBaseUrl: 'https://api.deepseek.com', echoReasoning: true };
const REASONING: Adapter = { defaultBaseUrl: null, echoReasoning: true };

/** Values of `use` that speak OpenAI chat completions. */
const ADAPTERS: Readonly<Record<string, Adapter>> = {
  'langchain_openai:ChatOpenAI': { defaultBaseUrl: null, echoReasoning: false },
  'langchain_deepseek:ChatDeepSeek': DEEPSEEK,
  'deerflow.models.patched_deepseek:PatchedChatDeepSeek': DEEPSEEK,
  'deerflow.models.patched_mimo:PatchedChatMiMo': REASONING,
  'deerflow.models.patched_stepfun:PatchedChatStepFun': REASONING,
};

export function createChatModelFactory({ config, demoBaseUrl, log }: ChatModelFactoryOptions): ChatModelFactory {
  const demo = config.models.length === 0 && demoBaseUrl !== undefined;
  const entries = demo ? [demoEntry(demoBaseUrl)] : config.models;
  const models = new Map<string, ChatModel>();

  function build(entry: ModelConfig): ChatModel {
    const key = demo ? 'models' : `models[${config.models.indexOf(entry)}]`;
    const adapter = Object.hasOwn(ADAPTERS, entry.use) ? ADAPTERS[entry.use] : undefined;
    if (adapter === undefined) {
      const known = Object.keys(ADAPTERS).join(', ');
      throw new AppError('configuration', `config.yaml: ${key}.use: expected one of ${known}`);
    }
    const client = toClientOptions(entry, key, adapter.defaultBaseUrl);
    if (client.unknownKeys.length > 0) {
      log.warn({ model: entry.name, keys: client.unknownKeys }, 'keys of a model entry have no effect');
    }
    if (entry.base_url && entry.api_base) log.warn({ model: entry.name }, 'base_url wins over api_base');
    const seconds = positive(entry.stream_chunk_timeout) ?? config.runs.model_stall_timeout_seconds;
    return createOpenAiChatModel({
      name: entry.name,
      client,
      stallTimeoutMs: Math.ceil(seconds * 1000),
      echoReasoning: adapter.echoReasoning,
    });
  }

  return {
    names: () => entries.map(({ name }) => name),
    resolve(name) {
      const [first] = entries;
      if (first === undefined) {
        throw new AppError('model_not_configured', 'config.yaml: models: expected at least one model');
      }
      const wanted = name === undefined || name === null ? first : entries.find((entry) => entry.name === name);
      if (wanted === undefined) log.warn({ model: name, instead: first.name }, 'no such model; the default is used');
      const entry = wanted ?? first;
      const model = models.get(entry.name) ?? build(entry);
      models.set(entry.name, model);
      return model;
    },
  };
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
