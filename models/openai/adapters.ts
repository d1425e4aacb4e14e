/** Values of `use` that speak with OpenAI, or like it. */
import { AppError } from '../../contracts';
import type { AdapterOptions, ModelAdapter } from '../adapter';
import type { ChatModel } from '../chat-model';
import { cleanAddress } from '../entry-options';
import { toClientOptions } from './client-options';
import type { ClientForm, ClientOptions } from './client-options';
import { createOpenAiChatModel } from './openai-chat-model';
import { createResponsesChatModel, SEALED_THOUGHTS, toResponsesBody } from './responses';
import type { WireMessagesOptions } from './wire-messages';

interface Dialect extends ClientForm {
  echoReasoning?: WireMessagesOptions['echoReasoning'];
  echoCallFields?: boolean;
  /** Last changes to what every request carries. */
  mendBody?: (body: Record<string, unknown>) => Record<string, unknown>;
  /** Whether the model may write its thoughts into its text. */
  inlineThoughts?: boolean;
  fetchImplementation?: typeof fetch;
}

const REASONING: Dialect = { echoReasoning: 'reasoning_content' };

/** Each server is told the longest reply under the name that its documents have for it. */
const DIALECTS: ReadonlyArray<[uses: readonly string[], dialect: Dialect]> = [
  [
    ['langchain_deepseek:ChatDeepSeek', 'deerflow.models.patched_deepseek:PatchedChatDeepSeek'],
    { ...REASONING, defaultBaseUrl: 'https://api.deepseek.com', tokenLimit: 'max_tokens' },
  ],
  [['deerflow.models.patched_mimo:PatchedChatMiMo'], { ...REASONING, tokenLimit: 'max_completion_tokens' }],
  [['deerflow.models.patched_stepfun:PatchedChatStepFun'], { ...REASONING, tokenLimit: 'max_tokens' }],
  // Gemini behind OpenAI's wire: it refuses calls that come back without their signatures.
  [['deerflow.models.patched_openai:PatchedChatOpenAI'], { echoCallFields: true }],
  [
    ['deerflow.models.patched_minimax:PatchedChatMiniMax'],
    { body: { reasoning_split: true }, inlineThoughts: true, tokenLimit: 'max_completion_tokens' },
  ],
  // Its older versions know no other name.
  [
    ['deerflow.models.vllm_provider:VllmChatModel'],
    { echoReasoning: 'reasoning', mendBody: withNewSwitch, tokenLimit: 'max_tokens' },
  ],
];

export const openAiAdapters: readonly ModelAdapter[] = [
  {
    uses: ['langchain_openai:ChatOpenAI'],
    create: (options) =>
      options.entry.use_responses_api === true
        ? createResponsesModel(options)
        : createModel(options, {}, toClientOptions(options)),
  },
  ...DIALECTS.map(([uses, dialect]): ModelAdapter => ({
    uses,
    create: (options) => createModel(options, dialect, toClientOptions(options, dialect)),
  })),
  {
    uses: ['langchain_openai:AzureChatOpenAI'],
    create: (options) => createModel(options, { fetchImplementation: withoutAuthorization }, azureClient(options)),
  },
];

function createModel(
  { entry, stallTimeoutMs }: AdapterOptions,
  { echoReasoning = null, echoCallFields = false, inlineThoughts = false, mendBody, fetchImplementation }: Dialect,
  plainClient: ClientOptions,
): ChatModel {
  const client = { ...plainClient, body: mendBody?.(plainClient.body) ?? plainClient.body };
  const wire = { echoReasoning, echoCallFields, vision: entry.supports_vision };
  const form = fetchImplementation === undefined ? {} : { fetchImplementation };
  return createOpenAiChatModel({ name: entry.name, client, stallTimeoutMs, wire, inlineThoughts, ...form });
}

/** The switch of a chat template went by another name in older files; where both stand, the new one counts. */
function withNewSwitch(body: Record<string, unknown>): Record<string, unknown> {
  const { chat_template_kwargs: template } = body;
  if (!(template instanceof Object) || !('thinking' in template)) return body;
  const { thinking, ...rest } = template;
  return { ...body, chat_template_kwargs: { enable_thinking: thinking, ...rest } };
}

/** Names of OpenAI's own models that think. */
const THINKS = /^(openai\/)?(o\d|gpt-5(?!-chat)|gpt-[6-9]|codex)/;

function createResponsesModel(options: AdapterOptions): ChatModel {
  const { entry, stallTimeoutMs } = options;
  const client = toClientOptions(options, { speaksResponses: true });
  const body = toResponsesBody(client.body, entry.reasoning);
  const thinks = THINKS.test(entry.model) || entry.supports_thinking || 'reasoning' in body;
  client.body = { ...(thinks ? SEALED_THOUGHTS : {}), ...body };
  const server = client.fields.configuration?.baseURL ?? 'https://api.openai.com/v1';
  return createResponsesChatModel({
    name: entry.name,
    origin: `${new URL(server).host}/${entry.model}`,
    client: () => client,
    stallTimeoutMs,
    vision: entry.supports_vision,
  });
}

const AZURE_KEYS = ['azure_endpoint', 'azure_deployment', 'deployment_name', 'api_version', 'openai_api_version'];

/** The same wire under the address of a deployment, with the key in a header of its own. */
function azureClient(options: AdapterOptions): ClientOptions {
  const { entry, key, log } = options;
  const text = (...names: string[]): string | null => {
    const value = names.map((name) => entry[name]).find((found) => typeof found === 'string' && found !== '');
    return typeof value === 'string' ? value : null;
  };
  if (entry.use_responses_api === true) {
    const instead = 'use langchain_openai:ChatOpenAI with base_url: https://<resource>.openai.azure.com/openai/v1';
    throw new AppError('configuration', `config.yaml: ${key}.use_responses_api: expected false; ${instead}`);
  }
  const endpoint = text('azure_endpoint');
  const version = text('api_version', 'openai_api_version');
  if (endpoint === null) throw missing(key, 'azure_endpoint', 'the address of the resource');
  if (version === null) throw missing(key, 'api_version', 'a version of the API, such as 2024-10-21');
  if (!entry.api_key) throw missing(key, 'api_key', 'a key of the resource');
  const deployment = text('azure_deployment', 'deployment_name') ?? entry.model;
  const resource = cleanAddress(options, { name: 'azure_endpoint', address: endpoint });
  const base_url = `${resource}/openai/deployments/${deployment}`;
  const client = toClientOptions({ entry: { ...entry, base_url, api_base: null }, key, log }, { ownKeys: AZURE_KEYS });
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
