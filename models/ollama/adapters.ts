/** Models that run on one's own machine with Ollama. */
import { ChatOllama } from '@langchain/ollama';
import type { AdapterOptions, ModelAdapter } from '../adapter';
import type { ChatModel } from '../chat-model';
import type { ProviderProblem } from '../failure';
import { baseUrlOf, providerKeys, secretsOf } from '../entry-options';
import { createLangChainChatModel } from '../langchain';

const DEFAULT_ADDRESS = 'http://127.0.0.1:11434';

export const ollamaAdapters: readonly ModelAdapter[] = [{ uses: ['langchain_ollama:ChatOllama'], create: createModel }];

function createModel(options: AdapterOptions): ChatModel {
  const { entry, stallTimeoutMs } = options;
  const { reasoning } = entry;
  const fields = {
    ...providerKeys(entry),
    model: entry.model,
    baseUrl: baseUrlOf(options) ?? DEFAULT_ADDRESS,
    maxRetries: 0,
    streaming: true,
    ...(entry.max_tokens ? { numPredict: entry.max_tokens } : {}),
    ...(typeof entry.temperature === 'number' ? { temperature: entry.temperature } : {}),
    // Plain flags and words of older files are the client's own.
    ...(typeof reasoning === 'boolean' || typeof reasoning === 'string' ? { think: reasoning } : {}),
    ...(entry.api_key ? { headers: { Authorization: `Bearer ${entry.api_key}` } } : {}),
  };
  return createLangChainChatModel({
    name: entry.name,
    modelName: entry.model,
    provider: 'ollama',
    vision: entry.supports_vision,
    stallTimeoutMs,
    secrets: secretsOf(entry.api_key),
    saysFinish: true,
    problemIn: errorOfStream,
    create: () => new ChatOllama(fields as ConstructorParameters<typeof ChatOllama>[0]),
  });
}

/**
 * What the server says in the middle of a stream is thrown as a bare error. So is the client's own complaint that a
 * stream had no end, which is about the connection.
 */
function errorOfStream(failure: unknown): ProviderProblem | null {
  const isBare = failure instanceof Error && failure.name === 'Error' && failure.cause === undefined;
  return isBare && !failure.message.startsWith('Did not receive done') ? { text: failure.message } : null;
}
