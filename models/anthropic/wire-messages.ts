/** Our messages where Anthropic is stricter than the other providers. */
import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import type { BaseMessage } from '@langchain/core/messages';

const LONGEST_NAME = 128;

/** Nothing without text goes out, results say whether they failed, and ids and names are spelled as the provider takes them. */
export function inAnthropicForm(messages: readonly BaseMessage[]): BaseMessage[] {
  return messages.flatMap((message) => {
    if (message instanceof ToolMessage) return [resultOf(message)];
    if (message instanceof AIMessage) return [withPossibleNames(message)];
    return message instanceof HumanMessage ? withoutBlanks(message) : [message];
  });
}

/** The client would lose that a call failed. */
function resultOf(message: ToolMessage): HumanMessage {
  const text = typeof message.content === 'string' ? message.content : '';
  const failed = message.status === 'error' && text.trim() !== '';
  const block = {
    type: 'tool_result',
    tool_use_id: spelled(message.tool_call_id),
    ...(text.trim() === '' ? {} : { content: text }),
    ...(failed ? { is_error: true } : {}),
  };
  return new HumanMessage({ content: [block] });
}

/** Calls that other models made have ids and, at times, names of other alphabets. */
function withPossibleNames(message: AIMessage): AIMessage {
  const calls = message.tool_calls ?? [];
  if (calls.every(({ id = '', name }) => id === spelled(id) && name === nameOf(name))) return message;
  const { content, additional_kwargs } = message;
  const tool_calls = calls.map((call) => ({ ...call, id: spelled(call.id ?? ''), name: nameOf(call.name) }));
  return new AIMessage({ content, additional_kwargs, tool_calls });
}

function withoutBlanks(message: HumanMessage): HumanMessage[] {
  const { content } = message;
  if (typeof content === 'string') return content.trim() === '' ? [] : [message];
  const said = content.filter(({ type, text }) => type !== 'text' || String(text).trim() !== '');
  if (said.length === content.length) return [message];
  return said.length === 0 ? [] : [new HumanMessage({ content: said })];
}

function spelled(id: string): string {
  return id.replace(/[^a-zA-Z0-9_-]/g, '_');
}

function nameOf(name: string): string {
  return spelled(name).slice(0, LONGEST_NAME);
}
