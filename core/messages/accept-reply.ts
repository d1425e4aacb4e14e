import type { AiMessage, InvalidToolCall, JsonObject, ToolCall, UsageMetadata } from '../../contracts';
import { jsonDepth, shorten, storableJson, storableText } from '../text';

/** A model's answer before anything is checked; the same shape as `ModelReply` of `models/`. */
export interface UncheckedReply {
  content: string;
  toolCalls: ReadonlyArray<{ id: string | null; name: string | null; args: string }>;
  usage: UsageMetadata | null;
  finishReason: string | null;
  additionalKwargs: JsonObject;
  responseMetadata: JsonObject;
}

/** Deeper arguments are refused: nothing that we store or send may overflow a parser. */
export const MAX_ARGUMENT_DEPTH = 100;
const MAX_RAW_ARGUMENTS = 500;

/** Longer ids, in which some gateways carry data of their own, fit in no index of the database. */
const LONGEST_CALL_ID = 512;

/**
 * Turns an answer into the message that is stored. Calls without an id, with an overlong one or with one that the reply
 * used already get an id of ours; a call without a name is `unknown_tool`; arguments that are no JSON object make the
 * call invalid, and the model is told when it gets its results.
 */
export function acceptReply(reply: UncheckedReply, messageId: string): AiMessage {
  const used = new Set<string>();
  const calls: ToolCall[] = [];
  const invalid: InvalidToolCall[] = [];
  reply.toolCalls.forEach((raw, place) => {
    const id = uniqueId(raw.id, used, messageId, place);
    used.add(id);
    const name = storableText(raw.name ?? '').trim() || 'unknown_tool';
    const parsed = parseArguments(raw.args);
    if ('error' in parsed) {
      invalid.push({
        type: 'invalid_tool_call',
        id,
        name,
        args: shorten(raw.args, MAX_RAW_ARGUMENTS),
        error: parsed.error,
      });
    }
    // An invalid call keeps its place among the calls, so that it is answered like any other.
    calls.push({ type: 'tool_call', id, name, args: 'error' in parsed ? {} : parsed.args });
  });
  return {
    type: 'ai',
    id: messageId,
    content: storableText(reply.content),
    name: null,
    tool_calls: calls,
    invalid_tool_calls: invalid,
    usage_metadata: reply.usage,
    additional_kwargs: storableJson(reply.additionalKwargs),
    response_metadata: storableJson(reply.responseMetadata),
  };
}

function uniqueId(id: string | null, used: ReadonlySet<string>, messageId: string, place: number): string {
  const given = storableText(id ?? '').trim();
  const isLong = given.length > LONGEST_CALL_ID;
  if (given !== '' && !isLong && !used.has(given)) return given;
  const reason = given === '' ? 'missing' : isLong ? 'long' : 'repeated';
  return `deerflow_synthetic_tool_call_${messageId}_${reason}_${place}`;
}

function parseArguments(text: string): { args: JsonObject } | { error: string } {
  let value: unknown;
  try {
    value = JSON.parse(text.trim() === '' ? '{}' : text);
  } catch {
    return { error: 'The arguments are not valid JSON.' };
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    return { error: 'The arguments are not a JSON object.' };
  }
  if (jsonDepth(value, MAX_ARGUMENT_DEPTH) > MAX_ARGUMENT_DEPTH) {
    return { error: `The arguments are nested deeper than ${MAX_ARGUMENT_DEPTH} levels.` };
  }
  return { args: storableJson(value as JsonObject) };
}
