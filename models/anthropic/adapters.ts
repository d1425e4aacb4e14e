/** Anthropic's messages API, with a key or with the login of Claude Code. */
import type { ChatAnthropicInput } from '@langchain/anthropic';
import { AppError } from '../../contracts';
import type { JsonObject } from '../../contracts';
import type { ModelConfig } from '../../contracts/schemas/config';
import type { AdapterOptions, ModelAdapter } from '../adapter';
import type { ChatModel, ToolDefinition } from '../chat-model';
import { baseUrlOf, headersOf, providerKeys, secretsOf, timeoutMsOf } from '../entry-options';
import { createLangChainChatModel } from '../langchain';
import { CACHE_MARK, markForCache } from './cache-marks';
import { createErrorHearingFetch, ForgivingAnthropic } from './forgiving-client';
import { findLogin, isOAuthToken, oauthHeaders, oauthMetadata, withBillingText } from './login';
import { inAnthropicForm } from './wire-messages';

const DEFAULT_MAX_TOKENS = 4096;
const THINKING_MAX_TOKENS = 8192;
/** Of the tokens of a reply, so much may be spent on thinking. */
const THINKING_SHARE = 0.8;
const LEAST_THINKING_TOKENS = 1024;

/** Stands for a key in DeerFlow's example. */
const PLACEHOLDER = 'your-anthropic-api-key';

export const anthropicAdapters: readonly ModelAdapter[] = [
  { uses: ['langchain_anthropic:ChatAnthropic'], create: (options) => createModel(options, keyOf(options)) },
  { uses: ['deerflow.models.claude_provider:ClaudeChatModel'], create: createClaudeModel },
];

function keyOf({ entry, env }: AdapterOptions): string | null {
  const key = [entry.api_key, env['ANTHROPIC_API_KEY']].find((value) => value && value !== PLACEHOLDER);
  return key ?? null;
}

/** A login is looked for again with each attempt: people log in anew while the product runs. */
function createClaudeModel(options: AdapterOptions): ChatModel {
  const key = keyOf(options);
  if (key !== null) return createModel(options, key, { isClaude: true });
  const current = (): ChatModel => {
    const { token, expired } = findLogin(options.env);
    if (!expired) return createModel(options, token, { isClaude: true });
    const text = 'The login of Claude Code has expired: log in again with its command line, or set api_key';
    throw new AppError('model_auth', text, { detail: { reason: 'auth' } });
  };
  const { name, provider } = current();
  return { name, provider, reply: async (request) => current().reply(request) };
}

function createModel(options: AdapterOptions, token: string | null, { isClaude = false } = {}): ChatModel {
  const { entry, key, stallTimeoutMs, env } = options;
  if (token === null) {
    const text = `config.yaml: ${key}.api_key: expected a key of Anthropic${isClaude ? ', or a login of Claude Code' : ''}`;
    throw new AppError('model_auth', text, { detail: { reason: 'auth' } });
  }
  const oauth = isClaude && isOAuthToken(token);
  const cached = isClaude && !oauth;
  const fields = fieldsOf(options, { token, oauth });
  return createLangChainChatModel({
    name: entry.name,
    modelName: entry.model,
    provider: 'anthropic',
    vision: entry.supports_vision,
    stallTimeoutMs,
    secrets: secretsOf(token),
    saysFinish: true,
    create: () => new ForgivingAnthropic(fields),
    describeTools: (tools) => describeTools(tools, cached),
    prepare(messages, { tools }) {
      const prepared = inAnthropicForm(messages);
      if (oauth) return withBillingText(prepared, env);
      return cached ? markForCache(prepared, tools.length > 0) : prepared;
    },
  });
}

function describeTools(tools: readonly ToolDefinition[], cached: boolean) {
  return tools.map(({ name, description, parameters }, index) => ({
    name,
    description,
    input_schema: inputSchema(parameters),
    ...(cached && index === tools.length - 1 ? CACHE_MARK : {}),
  }));
}

/** A choice between whole sets of arguments is refused here, and the client would leave the tool out without a word. */
function inputSchema({ anyOf: _anyOf, oneOf: _oneOf, allOf: _allOf, ...schema }: JsonObject): JsonObject {
  return { ...schema, type: 'object' };
}

interface Credential {
  token: string;
  oauth: boolean;
}

function fieldsOf(options: AdapterOptions, { token, oauth }: Credential): ChatAnthropicInput {
  const { entry } = options;
  const baseUrl = baseUrlOf(options);
  const timeout = timeoutMsOf(entry);
  const thinking = thinkingOf(entry);
  const { modelKwargs, ...keys } = providerKeys(entry);
  return {
    ...keys,
    model: entry.model,
    maxTokens: maxTokensOf(entry),
    maxRetries: 0,
    streaming: true,
    streamUsage: entry.stream_usage ?? true,
    apiKey: token,
    ...(baseUrl === null ? {} : { anthropicApiUrl: baseUrl }),
    ...(thinking === null ? {} : { thinking }),
    // The provider refuses a temperature beside thinking.
    ...(thinking?.type !== 'enabled' && typeof entry.temperature === 'number'
      ? { temperature: entry.temperature }
      : {}),
    invocationKwargs: { ...(oauth ? { metadata: oauthMetadata() } : {}), ...(modelKwargs as object | undefined) },
    clientOptions: {
      maxRetries: 0,
      logLevel: 'off',
      fetch: createErrorHearingFetch(secretsOf(token)),
      ...(timeout === undefined ? {} : { timeout }),
      // The client would take this one from a variable and send it beside the key.
      authToken: oauth ? token : null,
      defaultHeaders: { ...headersOf(entry), ...(oauth ? oauthHeaders() : {}) },
    },
  };
}

function maxTokensOf(entry: ModelConfig): number {
  return entry.max_tokens ?? (entry.thinking?.['type'] === 'enabled' ? THINKING_MAX_TOKENS : DEFAULT_MAX_TOKENS);
}

type Thinking = { type: 'enabled'; budget_tokens: number } | { type: 'disabled' } | { type: 'adaptive' };

/** A contract only says that the model thinks: how much is ours to say. */
function thinkingOf(entry: ModelConfig): Thinking | null {
  const type = entry.thinking?.['type'];
  if (type === 'disabled' || type === 'adaptive') return { type };
  if (type !== 'enabled') return null;
  const wanted = entry.thinking?.['budget_tokens'];
  const budget = typeof wanted === 'number' ? wanted : Math.floor(maxTokensOf(entry) * THINKING_SHARE);
  return { type, budget_tokens: Math.max(LEAST_THINKING_TOKENS, budget) };
}
