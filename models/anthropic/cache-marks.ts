/** Marks where a provider's cache of prompts may end: behind the instructions and behind the newest messages. */
import { HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import type { BaseMessage } from '@langchain/core/messages';

/** The provider takes four marks in all; one is for the instructions. */
const MARKED_MESSAGES = 3;
const MARK = { cache_control: { type: 'ephemeral' } };

export function markForCache(messages: BaseMessage[]): BaseMessage[] {
  const candidates = messages.filter((message) => isPlain(message) && !(message instanceof SystemMessage));
  const marked = new Set<BaseMessage>(candidates.slice(-MARKED_MESSAGES));
  return messages.map((message) => {
    if (typeof message.content !== 'string') return message;
    const content = [{ type: 'text' as const, text: message.content, ...MARK }];
    if (message instanceof SystemMessage) return new SystemMessage({ content });
    if (!marked.has(message)) return message;
    if (message instanceof HumanMessage) return new HumanMessage({ content });
    if (!(message instanceof ToolMessage)) return message;
    const { tool_call_id, name, status } = message;
    return new ToolMessage({ content, tool_call_id, ...(name === undefined ? {} : { name }), status });
  });
}

function isPlain(message: BaseMessage): boolean {
  return typeof message.content === 'string' && (message instanceof HumanMessage || message instanceof ToolMessage);
}
