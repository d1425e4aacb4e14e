/**
 * What the tokens of a reply were spent on, as interfaces show it beside the figures: one action for each tool call, and
 * the kind of the step as a whole. Goes into the reply's `additional_kwargs` under `token_usage_attribution`. Pure.
 */
import type { AiMessage, JsonObject, JsonValue, ToolCall } from '../contracts';
import { contentText } from './text';

/** Readers of other versions ignore what they do not know: changes only add. */
const VERSION = 1;
const SEARCHES = new Set(['web_search', 'image_search']);

export function withAttribution(message: AiMessage): AiMessage {
  const actions = message.tool_calls.map(describeCall);
  const token_usage_attribution: JsonObject = {
    version: VERSION,
    kind: stepKind(message, actions),
    shared_attribution: actions.length > 1,
    tool_call_ids: message.tool_calls.map(({ id }) => id),
    actions,
  };
  return { ...message, additional_kwargs: { ...message.additional_kwargs, token_usage_attribution } };
}

function describeCall({ id, name, args }: ToolCall): JsonObject {
  const call = { tool_call_id: id };
  if (name === 'task') {
    const { description, subagent_type: type } = args;
    return { kind: 'subagent', description: text(description), subagent_type: text(type), ...call };
  }
  if (SEARCHES.has(name)) return { kind: 'search', tool_name: name, query: text(args['query']), ...call };
  if (name === 'present_files') return { kind: 'present_files', ...call };
  if (name === 'ask_clarification') return { kind: 'clarification', ...call };
  return { kind: 'tool', tool_name: name, description: text(args['description']), ...call };
}

function stepKind(message: AiMessage, actions: readonly JsonObject[]): string {
  if (actions.length === 1 && actions[0]?.['kind'] === 'subagent') return 'subagent_dispatch';
  if (actions.length > 0) return 'tool_batch';
  return contentText(message.content) === '' ? 'thinking' : 'final_answer';
}

function text(value: JsonValue | undefined): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}
