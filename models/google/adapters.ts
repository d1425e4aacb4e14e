/** Gemini's own API. */
import { ChatGoogleGenerativeAI } from '@langchain/google-genai';
import { AppError } from '../../contracts';
import type { AdapterOptions, ModelAdapter } from '../adapter';
import type { ChatModel, ToolDefinition } from '../chat-model';
import { baseUrlOf, providerKeys, secretsOf } from '../entry-options';
import { createLangChainChatModel } from '../langchain';
import { withKnownBlocks } from './blocks';
import type { Content } from './contents';
import { inGeminiOrder } from './contents';
import { toGeminiParameters } from './schema';

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
    create: () => withMendedRequests(new ChatGoogleGenerativeAI(fields)),
    prepare: withKnownBlocks,
    describeTools: (tools) => [{ functionDeclarations: tools.map(declaration) }],
  });
}

function declaration({ name, description, parameters }: ToolDefinition): object {
  const converted = toGeminiParameters(parameters);
  return { name, description, ...(converted === undefined ? {} : { parameters: converted }) };
}

type Stream = { response: Promise<unknown> };
type Request = { contents: readonly Content[] };
type Ask = (request: Request, ...rest: unknown[]) => Promise<Stream>;

/**
 * The client sends each result of calls made at once as a turn of its own, which the provider refuses. And it reads each
 * stream twice, and nobody listens to the second reading: when it broke, its rejection would end the whole process.
 */
function withMendedRequests(model: ChatGoogleGenerativeAI): ChatGoogleGenerativeAI {
  // The client guesses from the model's name who sees pictures; here the configuration says so.
  Object.defineProperty(model, '_isMultimodalModel', { value: true });
  const client: unknown = Reflect.get(model, 'client');
  if (typeof client !== 'object' || client === null) return model;
  const ask = Reflect.get(client, 'generateContentStream') as Ask;
  const mended: Ask = async (request, ...rest) => {
    const ordered = { ...request, contents: inGeminiOrder(request.contents) };
    const stream = await Reflect.apply(ask, client, [ordered, ...rest]);
    stream.response.catch(() => undefined);
    return stream;
  };
  Reflect.set(client, 'generateContentStream', mended);
  return model;
}
