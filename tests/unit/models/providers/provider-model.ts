import type { Message } from '../../../../contracts';
import { AppError } from '../../../../contracts';
import { modelConfigSchema } from '../../../../contracts/schemas/config/models';
import type { ChatModel, ModelRequest } from '../../../../models';
import { findAdapter } from '../../../../models/adapters';
import { createSilentLogger } from '../../../../observability';
import type { ScriptedServer } from '../../../support/providers/scripted-server';

type Variables = Readonly<Record<string, string | undefined>>;

export interface ProviderModelOptions {
  server: ScriptedServer;
  use: string;
  entry?: object;
  env?: Variables;
}

/** A model whose provider is the scripted server. */
export function providerModel({ server, use, entry = {}, env = {} }: ProviderModelOptions): ChatModel {
  const parsed = modelConfigSchema.parse({
    name: 'own',
    use,
    model: 'gemini-2.5-flash',
    base_url: server.url,
    ...entry,
  });
  const adapter = findAdapter(use);
  if (adapter === undefined) throw new Error(`there is no adapter for ${use}`);
  return adapter.create({ entry: parsed, key: 'models[0]', stallTimeoutMs: 2_000, env, log: createSilentLogger() });
}

export function ask(model: ChatModel, messages: Message[], request: Partial<ModelRequest> = {}) {
  return model.reply({ system: 'Be brief.', messages, tools: [], signal: AbortSignal.timeout(5_000), ...request });
}

export function failureFrom(action: () => unknown): AppError {
  try {
    action();
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('expected a failure');
}
