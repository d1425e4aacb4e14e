/**
 * Our messages as chat completions, by way of LangChain's own conversion, in the one form that every OpenAI-compatible
 * server accepts.
 */
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import type { BaseMessage } from '@langchain/core/messages';
import { convertMessagesToCompletionsMessageParams } from '@langchain/openai';
import type { OpenAIClient } from '@langchain/openai';
import type { AiMessage, JsonObject, JsonValue, Message, MessageContent } from '../../contracts';
import { noteInsteadOf, textOf } from '../message-content';
import type { WireForm } from './message-bytes';

export type WireMessage = OpenAIClient.Chat.Completions.ChatCompletionMessageParam;

export interface WireMessagesOptions {
  model: string;
  /** Under which name the server wants the reasoning of earlier replies back; null where it does not. */
  echoReasoning: 'reasoning_content' | 'reasoning' | null;
  /** Whether the server wants back what it sent beside its calls, such as signatures of thoughts. */
  echoCallFields: boolean;
  /** Whether the model sees pictures; others get a note in their place. */
  vision: boolean;
}

export interface ToWire extends WireForm {
  system(system: string, messages: readonly Message[]): WireMessage[];
  message(message: Message, messages: readonly Message[], position: number): { wire: WireMessage[]; lasting: boolean };
}

/** Block types of chat completions; a server refuses a whole request for one block that it does not know. */
const KNOWN_BLOCKS = new Set(['text', 'image_url', 'input_audio', 'file']);

export function createToWire(options: WireMessagesOptions): ToWire {
  function convert(message: BaseMessage | null): WireMessage[] {
    if (message === null) return [];
    return convertMessagesToCompletionsMessageParams({ messages: [message], model: options.model });
  }

  function convertOne(message: Message, messages: readonly Message[], position: number): WireMessage[] {
    if (message.type !== 'ai') return convert(otherMessage(message, options.vision));
    const wire = convert(assistantMessage(message, messages, position));
    const { reasoning_content: thought } = message.additional_kwargs;
    for (const assistant of wire) {
      if (assistant.role !== 'assistant') continue;
      // "No text" is null beside tool calls; some servers refuse empty text.
      if (assistant.content === '') assistant.content = null;
      if (options.echoReasoning !== null && typeof thought === 'string')
        Object.assign(assistant, { [options.echoReasoning]: thought });
      if (options.echoCallFields) addCallFields(assistant.tool_calls, message.additional_kwargs[CALL_FIELDS]);
    }
    return wire;
  }

  return {
    system: (system, messages) => convert(systemMessage(system, messages)),
    message: (message, messages, position) => ({
      wire: convertOne(message, messages, position),
      lasting: !dependsOnFollowing(message),
    }),
  };
}

function dependsOnFollowing(message: Message): boolean {
  return message.type === 'ai' && message.invalid_tool_calls.length > 0;
}

/** Servers take one system message and only at the front, so later ones are joined to it. */
function systemMessage(system: string, messages: readonly Message[]): SystemMessage | null {
  const texts = [system];
  for (const message of messages) if (message.type === 'system') texts.push(textOf(message.content));
  const instructions = texts.filter((text) => text.trim() !== '').join('\n\n');
  return instructions === '' ? null : new SystemMessage(instructions);
}

/** Where a reply keeps what its provider sent beside each call, by the call's id. */
export const CALL_FIELDS = 'tool_call_fields';

function addCallFields(calls: ReadonlyArray<{ id: string }> | undefined, fields: JsonValue | undefined): void {
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) return;
  for (const call of calls ?? []) {
    const own = fields[call.id];
    if (typeof own === 'object' && own !== null) Object.assign(call, own);
  }
}

function otherMessage(message: Exclude<Message, AiMessage>, vision: boolean): BaseMessage | null {
  if (message.type === 'human') return new HumanMessage({ content: humanContent(message.content, vision) });
  if (message.type === 'system') return null;
  return new ToolMessage({ content: textOf(message.content), tool_call_id: message.tool_call_id });
}

/** Null for a message with neither text nor calls: servers refuse it, and it tells the model nothing. */
function assistantMessage(message: AiMessage, messages: readonly Message[], position: number): AIMessage | null {
  const content = textOf(message.content);
  const calls = message.tool_calls.map(({ id, name, args }) => ({ id, name, args, type: 'tool_call' as const }));
  // A call whose arguments were no JSON is sent without them where its result follows: the result tells what was wrong.
  const answered = message.invalid_tool_calls.length > 0 ? answeredIds(messages, position + 1) : new Set<string>();
  for (const { id, name } of message.invalid_tool_calls) {
    if (id && name && answered.has(id) && !calls.some((call) => call.id === id)) {
      calls.push({ id, name, args: {}, type: 'tool_call' });
    }
  }
  if (content.trim() === '' && calls.length === 0) return null;
  return new AIMessage({ content, tool_calls: calls });
}

function answeredIds(messages: readonly Message[], from: number): Set<string> {
  const ids = new Set<string>();
  for (let position = from; position < messages.length; position += 1) {
    const message = messages[position];
    if (message?.type !== 'tool') break;
    ids.add(message.tool_call_id);
  }
  return ids;
}

type Block = JsonObject & { type: string };

function humanContent(content: MessageContent, vision: boolean): string | Block[] {
  if (typeof content === 'string') return content;
  return content.map((block): Block => {
    const type = typeof block.type === 'string' ? block.type : 'unknown';
    return KNOWN_BLOCKS.has(type) && (vision || type !== 'image_url')
      ? { ...block, type }
      : { type: 'text', text: noteInsteadOf(block) };
  });
}
