/** Values of `use` that speak OpenAI chat completions. */
import type { AdapterOptions, ModelAdapter } from '../adapter';
import type { ChatModel } from '../chat-model';
import { toClientOptions } from './client-options';
import { createOpenAiChatModel } from './openai-chat-model';

interface Dialect {
  defaultBaseUrl: string | null;
  /** Whether the server wants the reasoning of earlier replies back. */
  echoReasoning: boolean;
}

const PLAIN: Dialect = { defaultBaseUrl: null, echoReasoning: false };
const REASONING: Dialect = { defaultBaseUrl: null, echoReasoning: true };
const DEEPSEEK: Dialect = { defaultBaseUrl: 'https://api.deepseek.com', echoReasoning: true };

export const openAiAdapters: readonly ModelAdapter[] = [
  adapter(['langchain_openai:ChatOpenAI'], PLAIN),
  adapter(['langchain_deepseek:ChatDeepSeek', 'deerflow.models.patched_deepseek:PatchedChatDeepSeek'], DEEPSEEK),
  adapter(
    ['deerflow.models.patched_mimo:PatchedChatMiMo', 'deerflow.models.patched_stepfun:PatchedChatStepFun'],
    REASONING,
  ),
];

function adapter(uses: readonly string[], dialect: Dialect): ModelAdapter {
  return { uses, create: (options) => createModel(options, dialect) };
}

function createModel({ entry, key, stallTimeoutMs, log }: AdapterOptions, dialect: Dialect): ChatModel {
  const client = toClientOptions(entry, key, dialect.defaultBaseUrl);
  if (client.unknownKeys.length > 0) {
    log.warn({ model: entry.name, keys: client.unknownKeys }, 'keys of a model entry have no effect');
  }
  if (entry.base_url && entry.api_base) log.warn({ model: entry.name }, 'base_url wins over api_base');
  return createOpenAiChatModel({ name: entry.name, client, stallTimeoutMs, echoReasoning: dialect.echoReasoning });
}
