import type { Message } from '../contracts';
import { contentText } from './text';

const LOCAL_TITLE_CHARS = 50;
const EMPTY_TITLE = 'New Conversation';

/** The title that a thread gets without asking a model: the user's first words. */
export function localTitle(messages: readonly Message[], maxChars: number): string {
  const first = messages.find(
    (message) => message.type === 'human' && message.additional_kwargs['hide_from_ui'] !== true,
  );
  const text = first === undefined ? '' : contentText(first.content).replaceAll(/\s+/g, ' ').trim();
  if (text === '') return EMPTY_TITLE;
  const limit = Math.min(maxChars, LOCAL_TITLE_CHARS);
  const characters = Array.from(text);
  return characters.length <= limit ? text : `${characters.slice(0, limit).join('')}...`;
}
