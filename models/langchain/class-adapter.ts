/** Any chat model of a LangChain.js package that the user has installed: `use: npm:<package>#<export>`. */
import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AppError } from '../../contracts';
import { redactText } from '../../observability';
import type { AdapterOptions, ModelAdapter } from '../adapter';
import type { ChatModel } from '../chat-model';
import { baseUrlOf, providerKeys, timeoutMsOf } from '../entry-options';
import { secretsIn } from '../entry-secrets';
import { createLangChainChatModel } from './langchain-chat-model';
import { loadExport } from './load-export';

const CLASS_PATH = /^npm:((?:@[\w-][\w.-]*\/)?[\w-][\w.-]*)((?:\/[\w-][\w.-]*)*)#([A-Za-z_$][\w$]*)$/;

type ChatModelClass = new (fields: Record<string, unknown>) => BaseChatModel;

export const classAdapter: ModelAdapter & { matches(use: string): boolean } = {
  uses: ['npm:<package>#<export>'],
  matches: (use) => use.startsWith('npm:'),
  create: createModel,
};

function createModel(options: AdapterOptions): ChatModel {
  const { entry, key, stallTimeoutMs, env } = options;
  const [, packageName = '', subpath = '', exported = ''] = CLASS_PATH.exec(entry.use) ?? [];
  if (packageName === '') throw problem(key, 'expected npm:<package>#<export>');
  const root = env['DEER_FLOW_PROJECT_ROOT'];
  // Where the project is, where the product was started, and the product's own packages.
  const folders = [...(root ? [root] : []), process.cwd(), __dirname];
  const loaded = loadExport({ packageName, subpath, exported, folders });
  if ('problem' in loaded) throw problem(key, loaded.problem, loaded.cause);
  const Model = loaded.value;
  if (!isChatModelClass(Model)) {
    throw problem(key, `${exported} of ${packageName}${subpath} is no class of a chat model of LangChain.js`);
  }
  const fields = fieldsOf(options);
  const secrets = secretsIn(entry);
  const create = (): BaseChatModel => new Model(fields);
  refuseUnusable(create, key, secrets);
  return createLangChainChatModel({
    name: entry.name,
    modelName: entry.model,
    provider: packageName,
    vision: entry.supports_vision,
    stallTimeoutMs,
    secrets,
    saysFinish: false,
    create,
  });
}

function fieldsOf(options: AdapterOptions): Record<string, unknown> {
  const { entry } = options;
  const baseUrl = baseUrlOf(options);
  const timeout = timeoutMsOf(entry);
  const { thinking, reasoning } = entry;
  return {
    ...providerKeys(entry),
    model: entry.model,
    maxRetries: 0,
    streaming: true,
    streamUsage: entry.stream_usage ?? true,
    ...(entry.api_key ? { apiKey: entry.api_key } : {}),
    ...(baseUrl === null ? {} : { baseUrl, configuration: { baseURL: baseUrl } }),
    ...(entry.max_tokens ? { maxTokens: entry.max_tokens } : {}),
    ...(typeof entry.temperature === 'number' ? { temperature: entry.temperature } : {}),
    ...(timeout === undefined ? {} : { timeout }),
    ...(thinking ? { thinking } : {}),
    ...(typeof reasoning === 'boolean' || typeof reasoning === 'string' ? { reasoning } : {}),
  };
}

/** Known by form: the package may bring a LangChain.js of its own. */
function isChatModelClass(value: unknown): value is ChatModelClass {
  if (typeof value !== 'function') return false;
  const prototype: unknown = value.prototype;
  return (
    typeof prototype === 'object' &&
    prototype !== null &&
    ['_modelType', 'stream', 'invoke', '_generate'].every((name) => typeof Reflect.get(prototype, name) === 'function')
  );
}

/** A class that refuses its options says so now, and not to the user of the first run. */
function refuseUnusable(create: () => unknown, key: string, secrets: readonly string[]): void {
  try {
    create();
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    const masked = secrets.reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), said);
    throw problem(key, `the class refuses this entry: ${redactText(masked).split('\n')[0]}`);
  }
}

function problem(key: string, text: string, cause?: unknown): AppError {
  return new AppError('configuration', `config.yaml: ${key}.use: ${text}`, cause === undefined ? {} : { cause });
}
