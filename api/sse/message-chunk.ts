import type { JsonObject, JsonValue } from '../../contracts';
import { MAX_ARGUMENT_DEPTH } from '../../core/messages/accept-reply';
import { jsonDepth } from '../../core/text';

/** Payload of a `text-delta` event as a message chunk with every field that clients of LangChain's form expect. */
export function messageChunk(delta: JsonObject): JsonObject {
  const chunks = toolCallChunks(delta['tool_call_chunks']);
  return {
    content: delta['content'] ?? '',
    additional_kwargs: delta['additional_kwargs'] ?? {},
    response_metadata: delta['response_metadata'] ?? {},
    type: 'AIMessageChunk',
    name: null,
    id: delta['id'] ?? null,
    tool_calls: chunks.flatMap(toolCall),
    invalid_tool_calls: [],
    usage_metadata: delta['usage_metadata'] ?? null,
    tool_call_chunks: chunks,
    chunk_position: delta['chunk_position'] ?? null,
  };
}

function toolCallChunks(value: JsonValue | undefined): JsonObject[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((chunk) =>
    chunk !== null && typeof chunk === 'object' && !Array.isArray(chunk)
      ? [
          {
            name: chunk['name'] ?? null,
            args: chunk['args'] ?? null,
            id: chunk['id'] ?? null,
            index: chunk['index'] ?? null,
            type: 'tool_call_chunk',
          },
        ]
      : [],
  );
}

/** The part of a chunk that names a call stands for the call; its arguments are complete only in the whole message. */
function toolCall(chunk: JsonObject): JsonObject[] {
  if (typeof chunk['name'] !== 'string' || chunk['name'] === '') return [];
  return [{ name: chunk['name'], args: parsedArguments(chunk['args']), id: chunk['id'] ?? null, type: 'tool_call' }];
}

function parsedArguments(args: JsonValue | undefined): JsonObject {
  if (typeof args !== 'string') return {};
  try {
    const value = JSON.parse(args) as JsonValue;
    const usable = value !== null && typeof value === 'object' && !Array.isArray(value);
    return usable && jsonDepth(value, MAX_ARGUMENT_DEPTH) <= MAX_ARGUMENT_DEPTH ? value : {};
  } catch {
    return {};
  }
}
