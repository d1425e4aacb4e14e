/** Anthropic's messages API, with a key or with the login of Claude Code. */
import type { ChatAnthropicInput } from '@langchain/anthropic';
import { AppError } from '../../contracts';
import type { ModelConfig } from '../../contracts/schemas/config';
import type { AdapterOptions, ModelAdapter } from '../adapter';
import type { ChatModel } from '../chat-model';
import { baseUrlOf, providerKeys, secretsOf, timeoutMsOf } from '../entry-options';
import { createLangChainChatModel } from '../langchain';
import { markForCache } from './cache-marks';
import { createErrorHearingFetch, ForgivingAnthropic } from './forgiving-client';
import { findLogin, isOAuthToken, oauthHeaders, withBillingText } from './login';

const DEFAULT_MAX_TOKENS = 4096;
const THINKING_MAX_TOKENS = 8192;
/** Of the tokens of a reply, so much may be spent on thinking. */
const THINKING_SHARE = 0.8;
const LEAST_THINKING_TOKENS = 1024;

export const anthropicAdapters: readonly ModelAdapter[] = [
  { uses: ['langchain_anthropic:ChatAnthropic'], create: (options) => createModel(options, options.entry.api_key) },
  {
    uses: ['deerflow.models.claude_provider:ClaudeChatModel'],
    create: (options) => createModel(options, options.entry.api_key || findLogin(options.env), { isClaude: true }),
  },
];

function createModel(
  options: AdapterOptions,
  credential: string | null | undefined,
  { isClaude = false } = {},
): ChatModel {
  const { entry, key, stallTimeoutMs, env } = options;
  const token = credential || env['ANTHROPIC_API_KEY'];
  if (!token) {
    const text = `config.yaml: ${key}.api_key: expected a key of Anthropic${isClaude ? ', or a login of Claude Code' : ''}`;
    throw new AppError('model_auth', text, { detail: { reason: 'auth' } });
  }
  const oauth = isClaude && isOAuthToken(token);
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
    ...(isClaude ? { prepare: oauth ? withBillingText(env) : markForCache } : {}),
  });
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
    ...(modelKwargs instanceof Object ? { invocationKwargs: { ...modelKwargs } } : {}),
    clientOptions: {
      maxRetries: 0,
      logLevel: 'off',
      fetch: createErrorHearingFetch(secretsOf(token)),
      ...(timeout === undefined ? {} : { timeout }),
      ...(oauth ? { apiKey: null, authToken: token, defaultHeaders: oauthHeaders() } : {}),
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
