import type { AiMessage, AppError, HumanMessage, Message, ToolMessage } from '../../../../contracts';
import { isAppError } from '../../../../contracts';
import { modelConfigSchema } from '../../../../contracts/schemas/config/models';
import type { ChatModel, ModelReply, ModelRequest } from '../../../../models';
import { findAdapter } from '../../../../models/adapters';
import { createSilentLogger } from '../../../../observability';
import type { Provider } from '../../../support/providers/providers';
import type { ScriptedServer } from '../../../support/providers/scripted-server';
import { SCRIPTED_MODEL } from '../../../support/providers/wire';

export const KEY = 'sk-a-provider-key-1234';
const STALL_MS = 400;

const LS = {
  name: 'ls',
  description: 'Lists a folder',
  parameters: { type: 'object', properties: { path: { type: 'string' } } },
};

export function human(content: HumanMessage['content']): HumanMessage {
  return { type: 'human', id: 'h', name: null, content, additional_kwargs: {}, response_metadata: {} };
}

export function results(reply: AiMessage, content: string): ToolMessage[] {
  return reply.tool_calls.map(({ id, name }) => ({
    type: 'tool',
    id: `r-${id}`,
    tool_call_id: id,
    name,
    status: 'success',
    content,
    artifact: null,
    additional_kwargs: {},
    response_metadata: {},
  }));
}

export interface Asking {
  /** Parts of the model's entry. */
  entry?: object;
  stallMs?: number;
  request?: Partial<ModelRequest>;
}

export interface Bench {
  ask(messages: Message[], asking?: Asking): Promise<ModelReply>;
  /** The last request's body. */
  sent(): string;
}

export function createBench({ use, entry, env }: Provider, server: ScriptedServer): Bench {
  function model(parts: object, stallMs: number): ChatModel {
    const usual = { name: 'own', use, model: SCRIPTED_MODEL, api_key: KEY };
    const parsed = modelConfigSchema.parse({ ...usual, ...entry(server.url, stallMs), ...parts });
    const adapter = findAdapter(use);
    if (adapter === undefined) throw new Error('there is no adapter');
    const log = createSilentLogger();
    return adapter.create({ entry: parsed, key: 'models[0]', stallTimeoutMs: stallMs, env, log });
  }
  return {
    ask: (messages, { entry: parts = {}, stallMs = STALL_MS, request = {} } = {}) =>
      model(parts, stallMs).reply({
        system: 'Be brief.',
        messages,
        tools: [LS],
        signal: AbortSignal.timeout(10_000),
        ...request,
      }),
    sent: () => JSON.stringify(server.requests.at(-1)?.body),
  };
}

/** The error of the catalogue that it fails with, in which there is no key. */
export async function failure(promise: Promise<unknown>): Promise<AppError> {
  const error: unknown = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!isAppError(error)) throw new Error(`expected an error of the catalogue, got ${String(error)}`);
  expect(JSON.stringify([error.message, error.options.detail])).not.toContain(KEY);
  return error;
}
