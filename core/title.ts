import type { AiMessage, Message } from '../contracts';
import { contentText, storableText } from './text';

const LOCAL_TITLE_CHARS = 50;
const EMPTY_TITLE = 'New Conversation';
const CUT_MARK = '...';

/** What a model reads of each side: enough to name a conversation by. */
const SIDE_CHARS = 500;

/** The title that a thread gets without asking a model: the user's first words. */
export function localTitle(messages: readonly Message[], maxChars: number): string {
  const text = firstQuestion(messages).replaceAll(/\s+/g, ' ').trim();
  if (text === '') return EMPTY_TITLE;
  const characters = Array.from(text);
  if (characters.length <= Math.min(maxChars, LOCAL_TITLE_CHARS)) return text;
  const kept = Math.min(LOCAL_TITLE_CHARS, maxChars - CUT_MARK.length);
  return `${characters.slice(0, kept).join('').trimEnd()}${CUT_MARK}`;
}

export interface TitleRequest {
  messages: readonly Message[];
  answer: AiMessage;
  /** Null: a text of ours. */
  template: string | null;
  maxWords: number;
}

const TEMPLATE = [
  'Name this conversation in at most {max_words} words, in the language of the user.',
  'Reply with the name alone: no quotation marks, no explanation.',
  '',
  'The user wrote: {user_msg}',
  'The assistant answered: {assistant_msg}',
].join('\n');

/** What the model is asked that writes the title. */
export function titlePrompt({ messages, answer, template, maxWords }: TitleRequest): string {
  const values: Record<string, string> = {
    max_words: String(maxWords),
    user_msg: firstCharacters(firstQuestion(messages), SIDE_CHARS),
    assistant_msg: firstCharacters(withoutThoughts(contentText(answer.content)), SIDE_CHARS),
  };
  // In one pass: what a user writes in braces stays text. Other braces of a template do too.
  return (template ?? TEMPLATE).replaceAll(/\{(max_words|user_msg|assistant_msg)\}/g, (_, name: string) => {
    return values[name] ?? '';
  });
}

/** A model's answer as a title; null where nothing is left of it. */
export function acceptTitle(answer: string, maxChars: number): string | null {
  const bare = withoutThoughts(storableText(answer)).replaceAll(/\s+/g, ' ').trim();
  const title = firstCharacters(bare.replaceAll(/^["'“”‘’«»`]+|["'“”‘’«»`]+$/g, '').trim(), maxChars);
  return title === '' ? null : title;
}

function firstQuestion(messages: readonly Message[]): string {
  const first = messages.find(
    (message) => message.type === 'human' && message.additional_kwargs['hide_from_ui'] !== true,
  );
  return first === undefined ? '' : contentText(first.content);
}

/** Some models think aloud; thoughts that were cut off have no end. */
function withoutThoughts(text: string): string {
  return text.replaceAll(/<think>[\s\S]*?(<\/think>|$)/gi, '').trim();
}

function firstCharacters(text: string, count: number): string {
  return Array.from(text).slice(0, count).join('').trimEnd();
}
