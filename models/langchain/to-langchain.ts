/** Our messages as LangChain's, for providers that LangChain.js speaks with. */
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import type { BaseMessage } from '@langchain/core/messages';
import type { AiMessage, JsonObject, JsonValue, Message, MessageContent } from '../../contracts';
import { noteInsteadOf, textOf } from '../message-content';

export interface ToLangChainOptions {
  /** Whose replies are sent back with everything that came with them; those of others as plain text. */
  provider: string;
  vision: boolean;
}

/** Where a reply keeps the blocks that its provider wants back: thoughts with their signatures, for example. */
export const PROVIDER_CONTENT = 'provider_content';

export function toLangChain(system: string, messages: readonly Message[], options: ToLangChainOptions): BaseMessage[] {
  const converted = messages.flatMap((message) => convert(message, options));
  return system.trim() === '' ? converted : [new SystemMessage(system), ...converted];
}

function convert(message: Message, options: ToLangChainOptions): BaseMessage[] {
  switch (message.type) {
    case 'human':
      return [new HumanMessage({ content: humanContent(message.content, options.vision) as never })];
    case 'ai':
      return assistant(message, options.provider);
    case 'tool':
      return [
        new ToolMessage({
          content: textOf(message.content),
          tool_call_id: message.tool_call_id,
          name: message.name ?? 'tool',
          status: message.status === 'error' ? 'error' : 'success',
        }),
      ];
    case 'system':
      return [];
  }
}

/** Nothing for a message with neither text nor calls: providers refuse it. */
function assistant(message: AiMessage, provider: string): BaseMessage[] {
  const isOwn = message.response_metadata['model_provider'] === provider;
  const { [PROVIDER_CONTENT]: kept, ...kwargs } = message.additional_kwargs;
  const said = textOf(message.content);
  // Spaces between thoughts and calls say nothing, and some providers refuse them.
  const text = said.trim() === '' ? '' : said;
  const blocks = isOwn && Array.isArray(kept) ? kept.filter((block) => !isBlankText(block)) : [];
  if (blocks.length === 0 && text === '' && message.tool_calls.length === 0) return [];
  return [
    new AIMessage({
      content: (blocks.length === 0 ? text : blocks) as never,
      tool_calls: message.tool_calls.map(({ id, name, args }) => ({ id, name, args, type: 'tool_call' as const })),
      additional_kwargs: isOwn ? kwargs : {},
    }),
  ];
}

function isBlankText(block: JsonValue): boolean {
  if (typeof block !== 'object' || block === null || Array.isArray(block)) return true;
  const { type, text } = block;
  return type === 'text' && (typeof text !== 'string' || text.trim() === '');
}

function humanContent(content: MessageContent, vision: boolean): string | JsonObject[] {
  if (typeof content === 'string') return content;
  return content.map((block): JsonObject => {
    if (block['type'] === 'text') return { type: 'text', text: block['text'] ?? '' };
    if (block['type'] === 'image_url' && vision) return { type: 'image_url', image_url: imageOf(block['image_url']) };
    return { type: 'text', text: noteInsteadOf(block) };
  });
}

function imageOf(image: JsonValue | undefined): JsonValue {
  return typeof image === 'string' ? { url: image } : (image ?? null);
}
