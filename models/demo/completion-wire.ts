/** The parts of OpenAI's chat completions wire that a server needs: requests in, chunks and completions out. */
import type { IncomingMessage, ServerResponse } from 'node:http';

export interface WireToolCall {
  id?: string | null;
  name?: string | null;
  /** JSON text, sent as it is. */
  arguments: string;
}

export interface WireMessage {
  role?: string;
  content?: unknown;
  tool_call_id?: string;
  tool_calls?: Array<{ id?: unknown; type?: string; function?: { name?: unknown; arguments?: unknown } }>;
}

export interface WireRequest {
  model?: string;
  stream?: boolean;
  stream_options?: { include_usage?: boolean };
  messages: WireMessage[];
  tools?: Array<{ function?: { name?: string } }>;
}

export interface WireUsage {
  input: number;
  output: number;
}

const MAX_BODY_BYTES = 32 * 1024 * 1024;

export type ParseRequest = (body: Buffer) => WireRequest | null;

/** Null where the body is no request. */
export async function readWireRequest(
  request: IncomingMessage,
  parse: ParseRequest = parseWireRequest,
): Promise<WireRequest | null> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const bytes of request as AsyncIterable<Buffer>) {
    size += bytes.byteLength;
    if (size > MAX_BODY_BYTES) return null;
    parts.push(bytes);
  }
  return parse(Buffer.concat(parts));
}

/** Null where the body is no request. */
export function parseWireRequest(body: Buffer): WireRequest | null {
  try {
    const request: unknown = JSON.parse(body.toString('utf8'));
    const valid =
      typeof request === 'object' && request !== null && 'messages' in request && Array.isArray(request.messages);
    return valid ? (request as WireRequest) : null;
  } catch {
    return null;
  }
}

/** Text of a message's content, whether it is a string or a list of blocks. */
export function wireText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((block: { text?: unknown }) => (typeof block?.text === 'string' ? block.text : '')).join('\n');
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

export function startEventStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
  response.flushHeaders();
}

/** Writes one event and waits while the reader is slow. Resolves at once when the reader is gone. */
export async function sendEvent(response: ServerResponse, data: unknown): Promise<void> {
  if (response.destroyed) return;
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  if (response.write(`data: ${text}\n\n`)) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.on('drain', done);
    response.on('close', done);
  });
}

interface Envelope {
  id: string;
  model: string;
}

export function chunkOf({ id, model }: Envelope, delta: unknown, finishReason: string | null = null) {
  const choices = [{ index: 0, delta, finish_reason: finishReason }];
  return { id, object: 'chat.completion.chunk', created: 0, model, choices };
}

export function usageChunk({ id, model }: Envelope, usage: WireUsage) {
  return { id, object: 'chat.completion.chunk', created: 0, model, choices: [], usage: wireUsage(usage) };
}

export interface WireCompletion {
  content: string;
  toolCalls: readonly WireToolCall[];
  finishReason: string | null;
  usage: WireUsage;
  reasoning?: string;
}

export function completionOf({ id, model }: Envelope, reply: WireCompletion) {
  const message = {
    role: 'assistant',
    content: reply.content,
    ...(reply.reasoning === undefined ? {} : { reasoning_content: reply.reasoning }),
    ...(reply.toolCalls.length === 0 ? {} : { tool_calls: reply.toolCalls.map(wireToolCall) }),
  };
  const choices = [{ index: 0, message, finish_reason: reply.finishReason }];
  return { id, object: 'chat.completion', created: 0, model, choices, usage: wireUsage(reply.usage) };
}

export function wireToolCall({ id, name, arguments: args }: WireToolCall, index: number) {
  return {
    index,
    ...(id === undefined ? {} : { id }),
    type: 'function',
    function: { ...(name === undefined ? {} : { name }), arguments: args },
  };
}

function wireUsage({ input, output }: WireUsage) {
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}
