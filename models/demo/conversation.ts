/** What the demo model understands of a request: the user's wish, the uploaded files and what was done about it. */
import type { WireMessage, WireRequest } from './completion-wire';
import { wireText } from './completion-wire';

export interface ToolExchange {
  tool: string;
  args: Record<string, unknown>;
  /** Null while there is no result. */
  result: string | null;
}

export interface Conversation {
  /** The newest message of the user, without the blocks that the server puts before it. */
  wish: string;
  /** Paths of the files that were uploaded with that message. */
  uploads: string[];
  /** Tool calls since that message, in order. */
  exchanges: ToolExchange[];
  /** Paths that were written at any time in the conversation. */
  writtenPaths: Set<string>;
  tools: Set<string>;
}

/** Blocks that come before the user's own words. */
const SERVER_BLOCK = /<(current_uploads|uploaded_files|system-reminder|system_reminder|memory)>[\s\S]*?<\/\1>/g;
const UPLOADS_BLOCK = /<current_uploads>([\s\S]*?)<\/current_uploads>/;
/** Notes that the server adds as a user's message, such as warnings, begin with words in capitals in brackets. */
const SERVER_NOTE = /^\[[A-Z][A-Z ]+\]/;

export function readConversation(request: WireRequest): Conversation {
  const position = request.messages.findLastIndex((message) => message.role === 'user' && isFromUser(message));
  const text = wireText(request.messages[position]?.content);
  const exchanges = exchangesIn(request.messages.slice(position + 1));
  const written = exchangesIn(request.messages).filter(({ tool }) => tool === 'write_file');
  return {
    wish: text.replace(SERVER_BLOCK, '').trim(),
    uploads: uploadedPaths(text),
    exchanges,
    writtenPaths: new Set(written.map(({ args }) => String(args.path))),
    tools: new Set((request.tools ?? []).map((tool) => tool.function?.name ?? '')),
  };
}

function isFromUser(message: WireMessage): boolean {
  const text = wireText(message.content);
  const own = text.replace(SERVER_BLOCK, '').trim();
  return (own !== '' && !SERVER_NOTE.test(own)) || UPLOADS_BLOCK.test(text);
}

function uploadedPaths(text: string): string[] {
  const block = UPLOADS_BLOCK.exec(text)?.[1] ?? '';
  const paths = [...block.matchAll(/^\s*Path: (\/mnt\/user-data\/uploads\/.+)$/gm)];
  return [...new Set(paths.map((match) => (match[1] ?? '').trim()))];
}

function exchangesIn(messages: readonly WireMessage[]): ToolExchange[] {
  const results = new Map<string, string>();
  for (const message of messages) {
    if (message.role === 'tool') results.set(String(message.tool_call_id), wireText(message.content));
  }
  return messages.flatMap(({ tool_calls: calls = [] }) =>
    calls.map(({ id, function: called }) => ({
      tool: String(called?.name),
      args: parseArguments(called?.arguments),
      result: results.get(String(id)) ?? null,
    })),
  );
}

function parseArguments(text: unknown): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(String(text));
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
