/** Blocks that Gemini's client cannot send: it would fail before the provider is asked. */
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import type { BaseMessage, MessageContent } from '@langchain/core/messages';

type Block = Exclude<MessageContent, string>[number];

const SENT_BACK = ['text', 'thinking', 'executableCode', 'codeExecutionResult'];

export function withKnownBlocks(messages: readonly BaseMessage[]): BaseMessage[] {
  return messages.map((message) => {
    const { content } = message;
    if (typeof content === 'string') return message;
    if (message instanceof HumanMessage) return new HumanMessage({ content: content.map(shown) });
    if (!(message instanceof AIMessage)) return message;
    const { additional_kwargs, tool_calls = [] } = message;
    const known = content.filter(({ type }) => SENT_BACK.includes(String(type)));
    return new AIMessage({ content: known, additional_kwargs, tool_calls });
  });
}

/** A picture must be in the request; one that lies elsewhere is named. */
function shown(block: Block): Block {
  if (block.type !== 'image_url') return block;
  const image: unknown = block['image_url'];
  const url: unknown = typeof image === 'object' && image !== null ? Reflect.get(image, 'url') : image;
  if (typeof url === 'string' && /^data:[^,]*;base64,/.test(url)) return block;
  return { type: 'text', text: `[picture at ${String(url)}, which the model cannot see]` };
}
