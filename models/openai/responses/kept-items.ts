/**
 * What of a reply's items is stored with the message: its thoughts, sealed by the provider, and where among them it
 * spoke and called. The words and the arguments are in the message itself.
 */
import type { AiMessage, JsonObject } from '../../../contracts';
import { fieldsOf } from '../answer-fields';

/** Where a reply keeps them, in its `additional_kwargs`. */
export const RESPONSE_ITEMS = 'response_items';

/** What stands between the messages of one reply: some say first what they do, and in the end what came of it. */
export const MESSAGE_GAP = '\n\n';

export interface KeptThought {
  type: 'reasoning';
  encrypted_content: string;
  summary: Array<{ type: 'summary_text'; text: string }>;
}

export interface KeptMessage {
  type: 'message';
  phase?: 'commentary' | 'final_answer';
  /** Of its text, in characters. */
  length: number;
}

export type KeptItem = KeptThought | KeptMessage | { type: 'function_call' };

/** Null where there is nothing that the message does not say already. */
export function keepItems(output: readonly unknown[], origin: string): JsonObject | null {
  const items = output.flatMap(keepItem);
  const says = items.some((item) => item.type === 'reasoning' || (item.type === 'message' && item.phase !== undefined));
  return says ? { origin, items: items as unknown as JsonObject[] } : null;
}

/** Items of the reply; none where another provider or model sealed them. */
export function keptItems(message: AiMessage, origin: string | null): KeptItem[] {
  const kept = message.additional_kwargs[RESPONSE_ITEMS];
  if (typeof kept !== 'object' || kept === null || Array.isArray(kept) || kept['origin'] !== origin) return [];
  return Array.isArray(kept['items']) ? kept['items'].flatMap(keepItem) : [];
}

function keepItem(item: unknown): KeptItem[] {
  const { type, encrypted_content: sealed, summary, phase, content, length = lengthOf(content) } = fieldsOf(item);
  if (type === 'function_call') return [{ type }];
  if (type === 'message') {
    const message: KeptMessage = { type, length: Number(length) };
    return [phase === 'commentary' || phase === 'final_answer' ? { ...message, phase } : message];
  }
  if (type !== 'reasoning' || typeof sealed !== 'string' || sealed === '') return [];
  const texts = Array.isArray(summary) ? summary.map((part) => fieldsOf(part)['text']) : [];
  return [
    {
      type,
      encrypted_content: sealed,
      summary: texts.filter((text) => typeof text === 'string').map((text) => ({ type: 'summary_text', text })),
    },
  ];
}

function lengthOf(content: unknown): number {
  const parts = Array.isArray(content) ? content.map(fieldsOf) : [];
  const texts = parts.map((part) => part['text'] ?? part['refusal']);
  return texts.reduce<number>((sum, text) => sum + (typeof text === 'string' ? text.length : 0), 0);
}
