/** OpenAI's Codex models, with the login of its command line: the Responses API at an address of its own. */
import type { ModelConfig } from '../../contracts/schemas/config';
import type { AdapterOptions, ModelAdapter } from '../adapter';
import type { ChatModel } from '../chat-model';
import { baseUrlOf, credentialsIn, foreignKeys, secretsOf, timeoutMsOf } from '../entry-options';
import type { ClientOptions } from '../openai';
import { createResponsesChatModel, reasoningOf, SEALED_THOUGHTS } from '../openai';
import { findCodexLogin } from './login';

const ADDRESS = 'https://chatgpt.com/backend-api/codex';
/** It answers only to clients that it knows. */
const ORIGINATOR = 'codex_cli_rs';
const EFFORTS = ['none', 'low', 'medium', 'high', 'xhigh'];
const USUAL_EFFORT = 'medium';
/** The server insists on instructions. */
const INSTRUCTIONS = 'Answer in a helpful way.';

export const codexAdapters: readonly ModelAdapter[] = [
  { uses: ['deerflow.models.openai_codex_provider:CodexChatModel'], create: createModel },
];

function createModel(options: AdapterOptions): ChatModel {
  const { entry, stallTimeoutMs, env } = options;
  // Whoever has no login is told so before a run asks.
  findCodexLogin(env);
  warnOfIdleKeys(options);
  const address = baseUrlOf(options, ['/responses']) ?? ADDRESS;
  return createResponsesChatModel({
    name: entry.name,
    origin: `codex/${entry.model}`,
    client: () => clientOf(options, address),
    stallTimeoutMs,
    vision: entry.supports_vision,
    defaultInstructions: INSTRUCTIONS,
  });
}

/** Neither the length of a reply nor a temperature can be asked for here. */
function clientOf({ entry, env }: AdapterOptions, address: string): ClientOptions {
  const { token, accountId } = findCodexLogin(env);
  const timeout = timeoutMsOf(entry);
  const account = accountId === null ? {} : { 'ChatGPT-Account-ID': accountId };
  return {
    fields: {
      model: entry.model,
      apiKey: token,
      maxRetries: 0,
      streaming: true,
      ...(timeout === undefined ? {} : { timeout }),
      configuration: {
        logLevel: 'off',
        baseURL: address,
        defaultHeaders: { originator: ORIGINATOR, accept: 'text/event-stream', ...account },
      },
    },
    body: { ...SEALED_THOUGHTS, reasoning: thinkingOf(entry) },
    secrets: secretsOf(token, accountId, ...credentialsIn(address)),
  };
}

function thinkingOf({ reasoning, reasoning_effort: chosen, extra_body: extra }: ModelConfig): object {
  const { effort: written, ...said } = { ...reasoningOf(reasoning), ...reasoningIn(extra) };
  const wanted = chosen ?? written;
  const effort = typeof wanted === 'string' && EFFORTS.includes(wanted) ? wanted : USUAL_EFFORT;
  return effort === 'none' ? { effort } : { summary: 'detailed', ...said, effort };
}

function reasoningIn(body: unknown): object {
  return typeof body === 'object' && body !== null && 'reasoning' in body ? reasoningOf(body.reasoning) : {};
}

/** Keys of an entry that have an effect here, beside those of all models. */
const KNOWN_KEYS = ['reasoning_effort', 'extra_body', 'retry_max_attempts'];

function warnOfIdleKeys({ entry, log }: AdapterOptions): void {
  const keys = Object.keys(foreignKeys(entry)).filter((name) => !KNOWN_KEYS.includes(name));
  if (entry.api_key) keys.push('api_key');
  if (keys.length > 0) log.warn({ model: entry.name, keys }, 'keys of a model entry have no effect');
}
