/** Marks where the provider's cache of prompts may end: behind the instructions, the newest messages and the tools. */
import { HumanMessage, SystemMessage } from '@langchain/core/messages';
import type { BaseMessage } from '@langchain/core/messages';

/** The provider takes so many marks in all. */
const MOST_MARKS = 4;
const MARKED_MESSAGES = 3;

export const CACHE_MARK = { cache_control: { type: 'ephemeral' as const } };

/** With tools, the last of them has a mark of its own, and the places at the front give way to those behind. */
export function markForCache(messages: BaseMessage[], hasTools: boolean): BaseMessage[] {
  const system = messages.filter((message) => message instanceof SystemMessage);
  const newest = messages.filter(endsTurn).slice(-MARKED_MESSAGES);
  const marked = new Set([...system, ...newest].slice(-(MOST_MARKS - (hasTools ? 1 : 0))));
  return messages.map((message) => (marked.has(message) ? withMark(message) : message));
}

/** Results of one turn go out as one message: only the last of them ends it. */
function endsTurn(message: BaseMessage, index: number, messages: readonly BaseMessage[]): boolean {
  if (!(message instanceof HumanMessage)) return false;
  const next = messages[index + 1];
  return next === undefined || !(isResult(message) && isResult(next));
}

function isResult({ content }: BaseMessage): boolean {
  return Array.isArray(content) && content[0]?.type === 'tool_result';
}

function withMark(message: BaseMessage): BaseMessage {
  const blocks = typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;
  const content = blocks.map((block, index) => (index === blocks.length - 1 ? { ...block, ...CACHE_MARK } : block));
  return message instanceof SystemMessage ? new SystemMessage({ content }) : new HumanMessage({ content });
}
