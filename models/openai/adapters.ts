/** Values of `use` that speak OpenAI chat completions. */
import { AppError } from '../../contracts';
import type { ModelConfig } from '../../contracts/schemas/config';
import type { AdapterOptions, ModelAdapter } from '../adapter';
import type { ChatModel } from '../chat-model';
import { toClientOptions } from './client-options';
import type { ClientOptions } from './client-options';
import { createOpenAiChatModel } from './openai-chat-model';
import type { WireMessagesOptions } from './wire-messages';

interface Dialect {
  defaultBaseUrl?: string;
  echoReasoning?: WireMessagesOptions['echoReasoning'];
  echoCallFields?: boolean;
  /** What every request carries. */
  body?: Record<string, unknown>;
  fetchImplementation?: typeof fetch;
}

const REASONING: Dialect = { echoReasoning: 'reasoning_content' };

const DIALECTS: ReadonlyArray<[uses: readonly string[], dialect: Dialect]> = [
  [['langchain_openai:ChatOpenAI'], {}],
  [
    ['langchain_deepseek:ChatDeepSeek', 'deerflow.models.patched_deepseek:PatchedChatDeepSeek'],
    { ...REASONING, defaultBaseUrl: 'https://api.deepseek.com' },
  ],
  [['deerflow.models.patched_mimo:PatchedChatMiMo', 'deerflow.models.patched_stepfun:PatchedChatStepFun'], REASONING],
  // Gemini behind OpenAI's wire: it refuses calls that come back without their signatures.
  [['deerflow.models.patched_openai:PatchedChatOpenAI'], { echoCallFields: true }],
  [['deerflow.models.patched_minimax:PatchedChatMiniMax'], { body: { reasoning_split: true } }],
  [['deerflow.models.vllm_provider:VllmChatModel'], { echoReasoning: 'reasoning' }],
];

export const openAiAdapters: readonly ModelAdapter[] = [
  ...DIALECTS.map(([uses, dialect]): ModelAdapter => ({
    uses,
    create: (options) => createModel(options, dialect, clientOf(options, dialect)),
  })),
  {
    uses: ['langchain_openai:AzureChatOpenAI'],
    create: (options) => createModel(options, { fetchImplementation: withoutAuthorization }, azureClient(options)),
  },
];

function clientOf({ entry, key }: AdapterOptions, { defaultBaseUrl, body = {} }: Dialect): ClientOptions {
  const extra = entry['extra_body'] instanceof Object ? entry['extra_body'] : {};
  return toClientOptions({ ...entry, extra_body: { ...body, ...extra } }, key, defaultBaseUrl ?? null);
}

function createModel(
  { entry, stallTimeoutMs, log }: AdapterOptions,
  { echoReasoning = null, echoCallFields = false, fetchImplementation }: Dialect,
  client: ClientOptions,
): ChatModel {
  if (client.unknownKeys.length > 0) {
    log.warn({ model: entry.name, keys: client.unknownKeys }, 'keys of a model entry have no effect');
  }
  if (entry.base_url && entry.api_base) log.warn({ model: entry.name }, 'base_url wins over api_base');
  const wire = { echoReasoning, echoCallFields, vision: entry.supports_vision };
  const form = fetchImplementation === undefined ? {} : { fetchImplementation };
  return createOpenAiChatModel({ name: entry.name, client, stallTimeoutMs, wire, ...form });
}

const AZURE_KEYS = ['azure_endpoint', 'azure_deployment', 'deployment_name', 'api_version', 'openai_api_version'];

/** The same wire under the address of a deployment, with the key in a header of its own. */
function azureClient({ entry, key }: AdapterOptions): ClientOptions {
  const text = (...names: string[]): string | null => {
    const value = names.map((name) => entry[name]).find((found) => typeof found === 'string' && found !== '');
    return typeof value === 'string' ? value : null;
  };
  const endpoint = text('azure_endpoint');
  const version = text('api_version', 'openai_api_version');
  if (endpoint === null) throw missing(key, 'azure_endpoint', 'the address of the resource');
  if (version === null) throw missing(key, 'api_version', 'a version of the API, such as 2024-10-21');
  if (!entry.api_key) throw missing(key, 'api_key', 'a key of the resource');
  const deployment = text('azure_deployment', 'deployment_name') ?? entry.model;
  const rest: ModelConfig = { ...entry, base_url: `${endpoint.replace(/\/+$/, '')}/openai/deployments/${deployment}` };
  for (const name of AZURE_KEYS) delete rest[name];
  const client = toClientOptions(rest, key, null);
  const { configuration } = client.fields;
  const headers = { ...(configuration?.defaultHeaders as object), 'api-key': entry.api_key };
  const query = { ...(configuration?.defaultQuery as object), 'api-version': version };
  client.fields.configuration = { ...configuration, defaultHeaders: headers, defaultQuery: query };
  return client;
}

/** The client sends the key as a token as well, which this server would take for a login. */
const withoutAuthorization: typeof fetch = (input, init) => {
  const headers = new Headers(init?.headers);
  headers.delete('authorization');
  return fetch(input, { ...init, headers });
};

function missing(key: string, name: string, expected: string): AppError {
  return new AppError('configuration', `config.yaml: ${key}.${name}: expected ${expected}`);
}
