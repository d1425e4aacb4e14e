/**
 * Messages as clients send them, in any of the forms that LangChain accepts, turned into the form that is stored. Pure,
 * and idempotent: what it made it takes again unchanged.
 */
import type { JsonObject, JsonValue, Message, MessageContent, ToolCall, UsageMetadata } from '../contracts';
import { AppError } from '../contracts';

const ROLES: Record<string, Message['type']> = {
  human: 'human',
  user: 'human',
  ai: 'ai',
  assistant: 'ai',
  AIMessageChunk: 'ai',
  system: 'system',
  developer: 'system',
  tool: 'tool',
};

const ROLE_HINT = "Use one of 'human', 'user', 'ai', 'assistant', 'function', 'tool', 'system', or 'developer'.";
const LONGEST_ID = 255;
const LONGEST_QUOTE = 500;

/** What only the server says of a message; a client that sends it could pretend that the server had. */
const SERVER_OWNED = new Set([
  'original_user_content',
  'dynamic_context_reminder',
  'reminder_date',
  'viewed_image_reminder',
  'run_id',
  'timestamp',
  'turn_duration',
  'deerflow_error_fallback',
  'error_type',
  'error_reason',
  'error_detail',
  'deerflow_tool_meta',
  'token_usage_attribution',
  'safety_termination',
]);
const SERVER_OWNED_PREFIX = 'subagent_';

export interface CoercionOptions {
  /** Makes ids for messages that have none. */
  newId: () => string;
  /** How the list is called in errors. */
  place?: string;
  /** For messages that come back as the server had sent them: what the server said of them stays. */
  keepServerOwned?: boolean;
}

/** Throws `invalid_message` naming the first message that is none. */
export function coerceInputMessages(value: JsonValue | undefined, options: CoercionOptions): Message[] {
  const place = options.place ?? 'input.messages';
  if (value === undefined || value === null) return [];
  if (typeof value !== 'string' && typeof value !== 'object') {
    throw new AppError('invalid_message', `Invalid ${place}: expected a text or a list of messages`);
  }
  const items = Array.isArray(value) ? value : [value];
  return items.map((item, index) => coerceMessage(item, options, `${place}[${index}]`));
}

function coerceMessage(item: JsonValue, options: CoercionOptions, place: string): Message {
  const invalid = (reason: string): AppError =>
    new AppError('invalid_message', `Invalid message at ${place}: ${reason}`);
  const source = toObject(item);
  if (source === null) throw invalid(`Unsupported message form: ${quote(item)}`);
  const role = source['role'] ?? source['type'];
  if (role === undefined || !hasContent(source)) {
    throw invalid(`Message dict must contain 'role' and 'content' keys, got ${quote(source)}`);
  }
  const type = typeof role === 'string' && Object.hasOwn(ROLES, role) ? ROLES[role] : undefined;
  if (type === undefined) throw invalid(`Unexpected message type: ${quote(role)}. ${ROLE_HINT}`);
  const content = toContent(source['content'] ?? '');
  if (content === null) throw invalid('content must be a text or a list of content blocks');
  const id = source['id'];
  if (typeof id === 'string' && id.length > LONGEST_ID) throw invalid(`id is longer than ${LONGEST_ID} characters`);
  const kwargs = objectOr(source['additional_kwargs']);
  const base = {
    id: typeof id === 'string' && id !== '' ? id : options.newId(),
    content,
    additional_kwargs: options.keepServerOwned === true ? kwargs : withoutServerOwned(kwargs),
    response_metadata: objectOr(source['response_metadata']),
    name: typeof source['name'] === 'string' ? source['name'] : null,
  };
  if (type === 'ai')
    return { ...base, type, ...toolCallsOf(source), usage_metadata: toUsage(source['usage_metadata']) };
  if (type !== 'tool') return { ...base, type };
  const toolCallId = source['tool_call_id'];
  if (typeof toolCallId !== 'string') throw invalid("a tool message must contain a 'tool_call_id'");
  const status = source['status'] === 'error' ? 'error' : 'success';
  return { ...base, type, tool_call_id: toolCallId, status, artifact: source['artifact'] ?? null };
}

/** Texts and `[role, text]` pairs are short forms. */
function toObject(item: JsonValue): JsonObject | null {
  if (typeof item === 'string') return { role: 'user', content: item };
  if (Array.isArray(item)) {
    const [role, content] = item;
    return item.length === 2 && typeof role === 'string' && content !== undefined ? { role, content } : null;
  }
  return item !== null && typeof item === 'object' ? item : null;
}

/** A reply that only calls tools may come without content. */
function hasContent(source: JsonObject): boolean {
  if (Array.isArray(source['tool_calls']) && source['tool_calls'].length > 0) return true;
  return source['content'] !== undefined && source['content'] !== null;
}

function toContent(content: JsonValue): MessageContent | null {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return null;
  const blocks = content.map((block) => (typeof block === 'string' ? { type: 'text', text: block } : block));
  const isBlock = (block: JsonValue): block is JsonObject =>
    block !== null && typeof block === 'object' && !Array.isArray(block);
  return blocks.every(isBlock) ? blocks : null;
}

function toolCallsOf(source: JsonObject): { tool_calls: ToolCall[]; invalid_tool_calls: [] } {
  const calls = Array.isArray(source['tool_calls']) ? source['tool_calls'] : [];
  return { tool_calls: calls.flatMap((call) => toToolCall(objectOr(call))), invalid_tool_calls: [] };
}

/** LangChain's form, or OpenAI's with the arguments as text. */
function toToolCall(call: JsonObject): ToolCall[] {
  const source = call['function'] === undefined ? call : objectOr(call['function']);
  const { name } = source;
  const id = call['id'];
  if (typeof name !== 'string' || typeof id !== 'string') return [];
  return [{ type: 'tool_call', id, name, args: toArguments(source['args'] ?? source['arguments']) }];
}

function toArguments(value: JsonValue | undefined): JsonObject {
  if (typeof value !== 'string') return objectOr(value);
  try {
    return objectOr(JSON.parse(value) as JsonValue);
  } catch {
    return {};
  }
}

function toUsage(value: JsonValue | undefined): UsageMetadata | null {
  const { input_tokens, output_tokens, total_tokens, ...details } = objectOr(value);
  if (typeof input_tokens !== 'number' || typeof output_tokens !== 'number' || typeof total_tokens !== 'number') {
    return null;
  }
  return { input_tokens, output_tokens, total_tokens, ...details };
}

function objectOr(value: JsonValue | undefined): JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {};
}

function withoutServerOwned(kwargs: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(kwargs).filter(([key]) => !SERVER_OWNED.has(key) && !key.startsWith(SERVER_OWNED_PREFIX)),
  );
}

/** A value as the texts of DeerFlow's errors show it. */
function quote(value: JsonValue): string {
  const text = literal(value);
  return text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text;
}

function literal(value: JsonValue): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'string') return `'${value.replace(/\\/g, '\\\\').replace(/'/g, "\\'").replace(/\n/g, '\\n')}'`;
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value === 'object') {
    return `{${Object.entries(value)
      .map(([key, item]) => `${literal(key)}: ${literal(item)}`)
      .join(', ')}}`;
  }
  return String(value);
}
