/**
 * A model behind MindIE: an OpenAI client with this server's ways. With tools its streams lose what matters, so the
 * reply is fetched whole and given on in parts.
 */
import { randomBytes } from 'node:crypto';
import type { ChatModel, ModelReply, ModelRequest, RawToolCall, ReplyDelta } from '../chat-model';
import { connectionFailure, emptyReplyFailure } from '../failure';
import { createNewlineDecoder, decodeNewlines } from './escaped-newlines';
import { parseToolCalls } from './parse-tool-calls';

export interface MindIeChatModelOptions {
  /** Streams. */
  streaming: ChatModel;
  /** Asks for the reply in one piece. */
  whole: ChatModel;
}

/** Characters of one simulated part. */
const PART_LENGTH = 15;

export function createMindIeChatModel({ streaming, whole }: MindIeChatModelOptions): ChatModel {
  return {
    name: streaming.name,
    provider: streaming.provider,
    reply: (request) =>
      request.tools.length > 0 ? replyWithTools(whole, request) : replyStreaming(streaming, request),
  };
}

async function replyWithTools(whole: ChatModel, { onDelta, ...request }: ModelRequest): Promise<ModelReply> {
  const reply = readWritten(await whole.reply(request));
  if (onDelta === undefined) return reply;
  for (const delta of parts(reply)) {
    request.signal.throwIfAborted();
    await onDelta(delta);
  }
  return reply;
}

/** The calls are read before newlines are decoded: their JSON has escapes of its own. */
function readWritten(reply: ModelReply): ModelReply {
  const { text, calls } = parseToolCalls(reply.content);
  const decoded = decodeNewlines(text);
  const content = calls.length === 0 ? decoded : decoded.trim();
  const written = calls.map(({ name, args }): RawToolCall => ({ id: newCallId(), name, args: JSON.stringify(args) }));
  const toolCalls = [...reply.toolCalls, ...written];
  if (reply.finishReason === null && content.includes('<tool_call>')) {
    throw connectionFailure('The model provider ended the reply within a call');
  }
  if (content.trim() === '' && toolCalls.length === 0) throw emptyReplyFailure(reply.finishReason);
  return { ...reply, content, toolCalls };
}

function newCallId(): string {
  return `call_${randomBytes(5).toString('hex')}`;
}

/** The reply as a stream would have brought it: thoughts, text, then the calls. */
function* parts({ content, toolCalls, additionalKwargs }: ModelReply): Generator<ReplyDelta> {
  if (Object.keys(additionalKwargs).length > 0) yield { content: '', toolCallChunks: [], additionalKwargs };
  const characters = Array.from(content);
  for (let from = 0; from < characters.length; from += PART_LENGTH) {
    const part = characters.slice(from, from + PART_LENGTH).join('');
    yield { content: part, toolCallChunks: [], additionalKwargs: {} };
  }
  const toolCallChunks = toolCalls.map((call, index) => ({ index, ...call }));
  if (toolCallChunks.length > 0) yield { content: '', toolCallChunks, additionalKwargs: {} };
}

async function replyStreaming(streaming: ChatModel, { onDelta, ...request }: ModelRequest): Promise<ModelReply> {
  const decoder = createNewlineDecoder();
  const decodeDelta = async (delta: ReplyDelta): Promise<void> => {
    const content = decoder.push(delta.content);
    // What is held back comes with the next part, or at the end.
    const isEmpty = content === '' && delta.toolCallChunks.length === 0 && isBare(delta);
    if (!isEmpty) await onDelta?.({ ...delta, content });
  };
  const reply = await streaming.reply(onDelta === undefined ? request : { ...request, onDelta: decodeDelta });
  const rest = decoder.end();
  if (rest !== '') await onDelta?.({ content: rest, toolCallChunks: [], additionalKwargs: {} });
  return { ...reply, content: decodeNewlines(reply.content) };
}

function isBare({ additionalKwargs }: ReplyDelta): boolean {
  return Object.keys(additionalKwargs).length === 0;
}
