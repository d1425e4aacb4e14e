/** Our messages as LangChain's, in the one form that every OpenAI-compatible server accepts. */
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import type { BaseMessage } from '@langchain/core/messages';
import type { AiMessage, JsonObject, Message, MessageContent } from '../../contracts';

/** Block types of chat completions; a server refuses a whole request for one block that it does not know. */
const KNOWN_BLOCKS = new Set(['text', 'image_url', 'input_audio', 'file']);

export interface ConvertedMessages {
  messages: BaseMessage[];
  /** `reasoning_content` of each assistant message that is sent, in order, for servers that want it back. */
  reasoning: Array<string | null>;
}

/** Servers take one system message and only at the front, so later ones are joined to it. */
export function toLangChainMessages(system: string, messages: readonly Message[]): ConvertedMessages {
  const systemTexts = messages.filter((message) => message.type === 'system').map(({ content }) => textOf(content));
  const instructions = [system, ...systemTexts].filter((text) => text.trim() !== '').join('\n\n');
  const converted: BaseMessage[] = instructions === '' ? [] : [new SystemMessage(instructions)];
  const reasoning: Array<string | null> = [];
  messages.forEach((message, position) => {
    switch (message.type) {
      case 'human':
        converted.push(new HumanMessage({ content: humanContent(message.content) }));
        break;
      case 'tool':
        converted.push(new ToolMessage({ content: textOf(message.content), tool_call_id: message.tool_call_id }));
        break;
      case 'ai': {
        const assistant = assistantMessage(message, messages.slice(position + 1));
        if (assistant === null) break;
        converted.push(assistant);
        const { reasoning_content: thought } = message.additional_kwargs;
        reasoning.push(typeof thought === 'string' ? thought : null);
        break;
      }
      case 'system':
        break;
    }
  });
  return { messages: converted, reasoning };
}

/** Null for a message with neither text nor calls: servers refuse it, and it tells the model nothing. */
function assistantMessage(message: AiMessage, following: readonly Message[]): AIMessage | null {
  const content = textOf(message.content);
  const calls = message.tool_calls.map(({ id, name, args }) => ({ id, name, args, type: 'tool_call' as const }));
  // A call whose arguments were no JSON is sent without them where its result follows: the result tells what was wrong.
  const answered = answeredIds(following);
  for (const { id, name } of message.invalid_tool_calls) {
    if (id && name && answered.has(id) && !calls.some((call) => call.id === id)) {
      calls.push({ id, name, args: {}, type: 'tool_call' });
    }
  }
  if (content.trim() === '' && calls.length === 0) return null;
  return new AIMessage({ content, tool_calls: calls });
}

function answeredIds(following: readonly Message[]): Set<string> {
  const ids = new Set<string>();
  for (const message of following) {
    if (message.type !== 'tool') break;
    ids.add(message.tool_call_id);
  }
  return ids;
}

type Block = JsonObject & { type: string };

function humanContent(content: MessageContent): string | Block[] {
  if (typeof content === 'string') return content;
  return content.map((block): Block => {
    const type = typeof block.type === 'string' ? block.type : 'unknown';
    return KNOWN_BLOCKS.has(type) ? { ...block, type } : { type: 'text', text: `[content of type ${type}]` };
  });
}

function textOf(content: MessageContent): string {
  if (typeof content === 'string') return content;
  return content.map((block) => (typeof block.text === 'string' ? block.text : '')).join('');
}
