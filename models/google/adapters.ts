/** Gemini's own API. */
import { ChatGoogleGenerativeAI } from '@langchain/google-genai';
import { AppError } from '../../contracts';
import type { AdapterOptions, ModelAdapter } from '../adapter';
import type { ChatModel } from '../chat-model';
import { baseUrlOf, providerKeys, secretsOf } from '../entry-options';
import { createLangChainChatModel } from '../langchain';

export const googleAdapters: readonly ModelAdapter[] = [
  { uses: ['langchain_google_genai:ChatGoogleGenerativeAI'], create: createModel },
];

function createModel(options: AdapterOptions): ChatModel {
  const { entry, key, stallTimeoutMs, env } = options;
  const { googleApiKey, ...keys } = providerKeys(entry);
  const apiKey = [entry.api_key, googleApiKey, env['GOOGLE_API_KEY'], env['GEMINI_API_KEY']].find(
    (value): value is string => typeof value === 'string' && value !== '',
  );
  if (apiKey === undefined) {
    const text = `config.yaml: ${key}.api_key: expected a key of Google`;
    throw new AppError('model_auth', text, { detail: { reason: 'auth' } });
  }
  const baseUrl = baseUrlOf(options);
  const fields = {
    ...keys,
    model: entry.model,
    apiKey,
    maxRetries: 0,
    streaming: true,
    streamUsage: entry.stream_usage ?? true,
    ...(baseUrl === null ? {} : { baseUrl }),
    ...(entry.max_tokens ? { maxOutputTokens: entry.max_tokens } : {}),
    ...(typeof entry.temperature === 'number' ? { temperature: entry.temperature } : {}),
  };
  return createLangChainChatModel({
    name: entry.name,
    modelName: entry.model,
    provider: 'google-genai',
    vision: entry.supports_vision,
    stallTimeoutMs,
    secrets: secretsOf(apiKey),
    saysFinish: true,
    create: () => withHeardStream(new ChatGoogleGenerativeAI(fields)),
  });
}

type Stream = { response: Promise<unknown> };
type Ask = (...parameters: unknown[]) => Promise<Stream>;

/**
 * The client reads each stream twice, and nobody listens to the second reading: when it broke, its rejection would end
 * the whole process.
 */
function withHeardStream(model: ChatGoogleGenerativeAI): ChatGoogleGenerativeAI {
  const client: unknown = Reflect.get(model, 'client');
  if (typeof client !== 'object' || client === null) return model;
  const ask = Reflect.get(client, 'generateContentStream') as Ask;
  const heard: Ask = async (...parameters) => {
    const stream = await Reflect.apply(ask, client, parameters);
    stream.response.catch(() => undefined);
    return stream;
  };
  Reflect.set(client, 'generateContentStream', heard);
  return model;
}
