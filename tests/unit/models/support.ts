import { configSchema } from '../../../contracts/schemas/config';
import type { AiMessage, HumanMessage, Message, ToolMessage } from '../../../contracts';
import { AppError } from '../../../contracts';
import type { ChatModel, ModelRequest, ReplyDelta, ToolDefinition } from '../../../models';
import { createChatModelFactory } from '../../../models';
import { createSilentLogger } from '../../../observability';

const BASE = { additional_kwargs: {}, response_metadata: {}, name: null };

export function human(content: HumanMessage['content'], id = 'h'): HumanMessage {
  return { ...BASE, type: 'human', id, content };
}

export function assistant(
  content: string,
  calls: Array<[id: string, name: string, args?: AiMessage['tool_calls'][0]['args']]> = [],
): AiMessage {
  const tool_calls = calls.map(([id, name, args = {}]) => ({ id, name, args, type: 'tool_call' as const }));
  return { ...BASE, type: 'ai', id: 'a', content, tool_calls, invalid_tool_calls: [], usage_metadata: null };
}

export function toolResult(tool_call_id: string, content: string): ToolMessage {
  return { ...BASE, type: 'tool', id: `t-${tool_call_id}`, content, tool_call_id, status: 'success', artifact: null };
}

export const TOOL: ToolDefinition = {
  name: 'ls',
  description: 'Lists a folder',
  parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
};

export function modelAt(baseUrl: string, entry: object = {}, stallSeconds = 5): ChatModel {
  const config = configSchema.parse({
    models: [
      {
        name: 'lead',
        use: 'langchain_openai:ChatOpenAI',
        model: 'lead',
        api_key: 'key-of-the-test',
        base_url: baseUrl,
        ...entry,
      },
    ],
    runs: { model_stall_timeout_seconds: stallSeconds },
  });
  return createChatModelFactory({ config, log: createSilentLogger() }).resolve();
}

export interface Call {
  request: ModelRequest;
  deltas: ReplyDelta[];
  stop: AbortController;
}

export function newCall(messages: Message[] = [human('hi')], tools = [TOOL]): Call {
  const deltas: ReplyDelta[] = [];
  const stop = new AbortController();
  const onDelta = (delta: ReplyDelta) => void deltas.push(delta);
  return { deltas, stop, request: { system: 'Be brief.', messages, tools, signal: stop.signal, onDelta } };
}

export async function failureOf(promise: Promise<unknown>): Promise<AppError> {
  const error: unknown = await promise.then(
    () => new Error('expected a failure'),
    (reason: unknown) => reason,
  );
  if (error instanceof AppError) return error;
  throw error;
}
