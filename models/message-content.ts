/** Contents of messages as every wire needs them. */
import type { JsonObject, MessageContent } from '../contracts';

/** All text of a message; blocks of other types have none. */
export function textOf(content: MessageContent): string {
  if (typeof content === 'string') return content;
  return content.map((block) => (typeof block['text'] === 'string' ? block['text'] : '')).join('');
}

/** Stands for a block that is not sent: the model knows that there was something. */
export function noteInsteadOf(block: JsonObject): string {
  const { type } = block;
  return `[content of type ${typeof type === 'string' ? type : 'unknown'}]`;
}
