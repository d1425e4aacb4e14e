import type { WireMessage, WireRequest } from '../../../models/demo/completion-wire';
import { wireText } from '../../../models/demo/completion-wire';

/** Replies that were looked at before: a load test sends the same ones with every turn. */
const soundReplies = new WeakSet<WireMessage>();

/** The rules of a strict provider. Returns what is broken, or null. */
export function brokenRule({ messages, tools = [] }: WireRequest): string | null {
  if (messages.length === 0) return 'messages is empty';
  if (tools.some((tool) => !tool.function?.name)) return 'a tool has no name';
  let open = new Set<string>();
  for (const [position, message] of messages.entries()) {
    const fault = messageFault(message, position, open);
    if (fault !== null) return `messages[${position}]: ${fault}`;
    if (message.role === 'assistant') open = new Set((message.tool_calls ?? []).map(({ id }) => String(id)));
  }
  return open.size === 0 ? null : `tool calls without a tool message: ${[...open].join(', ')}`;
}

function messageFault(message: WireMessage, position: number, open: Set<string>): string | null {
  if (message.role === 'tool') {
    const id = message.tool_call_id ?? '';
    return open.delete(id) ? null : `tool message for "${id}" does not follow its call, or is the second one`;
  }
  if (open.size > 0) return `tool calls without a tool message: ${[...open].join(', ')}`;
  switch (message.role) {
    case 'system':
    case 'developer':
      return position === 0 ? null : 'a system message may only come first';
    case 'user':
      return message.content === null || message.content === undefined ? 'a user message without content' : null;
    case 'assistant':
      return soundReplies.has(message) ? null : assistantFault(message);
    default:
      return `unknown role ${String(message.role)}`;
  }
}

function assistantFault(message: WireMessage): string | null {
  const fault = replyFault(message);
  if (fault === null) soundReplies.add(message);
  return fault;
}

function replyFault({ content, tool_calls: calls }: WireMessage): string | null {
  if (calls === undefined || calls.length === 0) {
    return wireText(content).trim() === '' ? 'an empty assistant message' : null;
  }
  const ids = new Set<string>();
  for (const { id, function: called } of calls) {
    if (typeof id !== 'string' || id === '') return 'a tool call without an id';
    if (ids.has(id)) return `two tool calls with the id ${id}`;
    ids.add(id);
    if (typeof called?.name !== 'string' || called.name === '') return `tool call ${id} has no name`;
    if (!isJsonObject(called.arguments)) return `arguments of tool call ${id} are no JSON object`;
  }
  return null;
}

function isJsonObject(text: unknown): boolean {
  if (typeof text !== 'string') return false;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
