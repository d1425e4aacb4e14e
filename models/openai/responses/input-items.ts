/** A conversation as the items that the Responses API takes. */
import { createHash } from 'node:crypto';
import type { OpenAIClient } from '@langchain/openai';
import type { AiMessage, JsonValue, Message, MessageContent } from '../../../contracts';
import { noteInsteadOf, textOf } from '../../message-content';
import type { WireForm } from '../message-bytes';
import { keptItems, MESSAGE_GAP } from './kept-items';
import type { KeptItem, KeptThought } from './kept-items';

/** A thought goes without its id: the provider keeps nothing, and would look for what has one. */
type Item = OpenAIClient.Responses.ResponseInputItem | KeptThought;
type Part = OpenAIClient.Responses.ResponseInputContent;

export interface InputOptions {
  /** Whose thoughts are sent back: only who sealed them can open them. Null where none are. */
  origin: string | null;
  /** Whether the model sees pictures; others get a note in their place. */
  vision: boolean;
}

/** Our own instructions and those of the conversation, which have a place of their own in the request. */
export function instructionsOf(system: string, messages: readonly Message[]): string {
  const texts = [system];
  for (const message of messages) if (message.type === 'system') texts.push(textOf(message.content));
  return texts.filter((text) => text.trim() !== '').join('\n\n');
}

export function createInputForm(options: InputOptions): WireForm {
  return {
    system: () => [],
    message: (message) => ({ wire: itemsOf(message, options), lasting: true }),
  };
}

function itemsOf(message: Message, options: InputOptions): Item[] {
  switch (message.type) {
    case 'system':
      return [];
    case 'human':
      return [{ type: 'message', role: 'user', content: humanContent(message.content, options.vision) }];
    case 'tool':
      return [
        {
          type: 'function_call_output',
          call_id: acceptedCallId(message.tool_call_id),
          output: textOf(message.content),
        },
      ];
    case 'ai':
      return replyItems(message, options.origin);
  }
}

/** The reply in the order in which it came, thoughts before what they led to, as far as it was kept. */
function replyItems(message: AiMessage, origin: string | null): Item[] {
  const calls = message.tool_calls.map(functionCall);
  const items: Item[] = [];
  let thoughts: Item[] = [];
  const known = keptItems(message, origin);
  const texts = textsOf(textOf(message.content), known);
  for (const kept of known) {
    if (kept.type === 'reasoning') {
      thoughts.push(kept);
      continue;
    }
    const text = kept.type === 'message' ? texts.shift() : undefined;
    const call = kept.type === 'function_call' ? calls.shift() : undefined;
    const next = kept.type === 'message' && text !== undefined ? spoken(text, kept.phase) : call;
    // A thought without what it led to is refused: that may have been taken away.
    if (next !== undefined) items.push(...thoughts, next);
    thoughts = [];
  }
  return [...items, ...texts.map((text) => spoken(text)), ...calls];
}

/** The messages of the reply; one where it was changed since, none where it said nothing. */
function textsOf(text: string, known: readonly KeptItem[]): string[] {
  if (text.trim() === '') return [];
  const texts: string[] = [];
  let start = 0;
  for (const kept of known) {
    if (kept.type !== 'message') continue;
    texts.push(text.slice(start, start + kept.length));
    start += kept.length + MESSAGE_GAP.length;
  }
  const isWhole = texts.every((part) => part.trim() !== '') && texts.join(MESSAGE_GAP) === text;
  return isWhole ? texts : [text];
}

function spoken(text: string, phase?: 'commentary' | 'final_answer'): Item {
  return { type: 'message', role: 'assistant', content: text, ...(phase === undefined ? {} : { phase }) };
}

function functionCall({ id, name, args }: AiMessage['tool_calls'][number]): Item {
  return { type: 'function_call', call_id: acceptedCallId(id), name, arguments: JSON.stringify(args) };
}

const LONGEST_CALL_ID = 64;

/** Ids of other providers, and ours for calls that had none, may be longer than this one takes. */
function acceptedCallId(id: string): string {
  if (id.length <= LONGEST_CALL_ID) return id;
  return `call_${createHash('sha256').update(id).digest('hex').slice(0, 40)}`;
}

function humanContent(content: MessageContent, vision: boolean): string | Part[] {
  if (typeof content === 'string') return content;
  return content.map((block): Part => {
    if (block['type'] === 'text') return { type: 'input_text', text: textOf([block]) };
    const url = block['type'] === 'image_url' && vision ? urlOf(block['image_url']) : null;
    if (url !== null) return { type: 'input_image', image_url: url, detail: 'auto' };
    return { type: 'input_text', text: noteInsteadOf(block) };
  });
}

function urlOf(image: JsonValue | undefined): string | null {
  const url = typeof image === 'object' && image !== null && !Array.isArray(image) ? image['url'] : image;
  return typeof url === 'string' ? url : null;
}
