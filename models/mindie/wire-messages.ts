/**
 * A conversation as MindIE takes it: texts of three roles. Its chat templates know no tool calls and no tool results as
 * messages of their own, so both are written out.
 */
import type { AiMessage, JsonValue, Message, MessageContent } from '../../contracts';
import type { ToWire, WireMessage } from '../openai';
import { escapeMarkup } from './entities';

/** A message without any text makes some servers generate nothing. */
const NOTHING = ' ';

export const mindIeToWire: ToWire = {
  system(system, messages) {
    const texts = [
      system,
      ...messages.flatMap((message) => (message.type === 'system' ? [textOf(message.content)] : [])),
    ];
    const instructions = texts.filter((text) => text.trim() !== '').join('\n\n');
    return instructions === '' ? [] : [{ role: 'system', content: instructions }];
  },
  message: (message) => ({ wire: wireMessage(message), lasting: true }),
};

function wireMessage(message: Message): WireMessage[] {
  switch (message.type) {
    case 'system':
      return [];
    case 'human':
      return [{ role: 'user', content: someText(textOf(message.content)) }];
    case 'tool':
      return [{ role: 'user', content: toolResponse(message.content) }];
    case 'ai':
      return [{ role: 'assistant', content: someText(assistantText(message)) }];
  }
}

function assistantText(message: AiMessage): string {
  const text = textOf(message.content);
  const calls = message.tool_calls.map(({ name, args }) => toolCall(name, Object.entries(args)));
  // Their arguments could not be read; the result that follows tells the model so.
  const invalid = message.invalid_tool_calls.flatMap(({ name }) => (name ? [toolCall(name, [])] : []));
  const written = [...calls, ...invalid];
  return written.length === 0
    ? text
    : [text, ...written]
        .filter((part) => part !== '')
        .join('\n')
        .trim();
}

function toolCall(name: string, args: ReadonlyArray<[string, JsonValue]>): string {
  const parameters = args.map(([key, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return `<parameter=${escapeMarkup(key)}>${escapeMarkup(text)}</parameter>`;
  });
  return ['<tool_call>', `<function=${escapeMarkup(name)}>`, parameters.join(' '), '</function>', '</tool_call>'].join(
    ' ',
  );
}

/** Escaped: what a tool read somewhere must not end the frame and speak for the user. */
function toolResponse(content: MessageContent): string {
  const text = typeof content === 'string' ? content : content.map(resultBlock).join('');
  return `<tool_response>\n${escapeMarkup(text)}\n</tool_response>`;
}

function resultBlock(block: Exclude<MessageContent, string>[number]): string {
  if (block.type === 'json' && block['json'] !== undefined) return JSON.stringify(block['json']);
  return textOf([block]);
}

function textOf(content: MessageContent): string {
  if (typeof content === 'string') return content;
  return content.map((block) => (block.type === 'text' && typeof block.text === 'string' ? block.text : '')).join('');
}

function someText(text: string): string {
  return text.trim() === '' ? NOTHING : text;
}
