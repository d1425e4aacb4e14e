/** Any chat model of a LangChain.js package that the user has installed: `use: npm:<package>#<export>`. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AppError } from '../../contracts';
import type { AdapterOptions, ModelAdapter } from '../adapter';
import type { ChatModel } from '../chat-model';
import { baseUrlOf, providerKeys, secretsOf } from '../entry-options';
import { createLangChainChatModel } from './langchain-chat-model';

const CLASS_PATH = /^npm:((?:@[a-z0-9._-]+\/)?[a-z0-9._-]+)#([A-Za-z_$][\w$]*)$/;

type ChatModelClass = new (fields: Record<string, unknown>) => BaseChatModel;

export const classAdapter: ModelAdapter & { matches(use: string): boolean } = {
  uses: ['npm:<package>#<export>'],
  matches: (use) => use.startsWith('npm:'),
  create: createModel,
};

function createModel(options: AdapterOptions): ChatModel {
  const { entry, key, stallTimeoutMs } = options;
  const [, packageName = '', exported = ''] = CLASS_PATH.exec(entry.use) ?? [];
  if (packageName === '') throw problem(key, 'expected npm:<package>#<export>');
  const Model = findClass(key, packageName, exported);
  const baseUrl = baseUrlOf(options);
  const keys = providerKeys(entry);
  const fields = {
    ...keys,
    model: entry.model,
    maxRetries: 0,
    ...(entry.api_key ? { apiKey: entry.api_key } : {}),
    ...(baseUrl === null ? {} : { baseUrl, configuration: { baseURL: baseUrl } }),
    ...(entry.max_tokens ? { maxTokens: entry.max_tokens } : {}),
    ...(typeof entry.temperature === 'number' ? { temperature: entry.temperature } : {}),
  };
  return createLangChainChatModel({
    name: entry.name,
    modelName: entry.model,
    provider: packageName,
    vision: entry.supports_vision,
    stallTimeoutMs,
    secrets: secretsOf(entry.api_key, ...Object.values(keys)),
    saysFinish: false,
    create: () => new Model(fields),
  });
}

/** Looked for where the product is started, and among its own packages. */
function findClass(key: string, packageName: string, exported: string): ChatModelClass {
  for (const from of [join(process.cwd(), 'package.json'), __filename]) {
    let found: unknown;
    try {
      found = Reflect.get(createRequire(from)(packageName) as object, exported);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') continue;
      throw problem(key, `the package ${packageName} cannot be loaded`);
    }
    if (typeof found === 'function') return found as ChatModelClass;
    throw problem(key, `the package ${packageName} has no class ${exported}`);
  }
  throw problem(key, `the package ${packageName} is not installed: npm install ${packageName}`);
}

function problem(key: string, text: string): AppError {
  return new AppError('configuration', `config.yaml: ${key}.use: ${text}`);
}
