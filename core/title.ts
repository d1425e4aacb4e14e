import type { Message } from '../contracts';
import { contentText, storableText } from './text';

const LOCAL_TITLE_CHARS = 50;
const ELLIPSIS = '...';
const EMPTY_TITLE = 'New Conversation';

/** The title that a thread gets without asking a model: the user's first words. */
export function localTitle(messages: readonly Message[], maxChars: number): string {
  const text = userText(messages).replaceAll(/\s+/g, ' ').trim();
  if (text === '') return EMPTY_TITLE;
  const characters = Array.from(text);
  if (characters.length <= Math.min(maxChars, LOCAL_TITLE_CHARS)) return text;
  const kept = characters.slice(0, Math.min(LOCAL_TITLE_CHARS, maxChars - ELLIPSIS.length));
  return `${kept.join('').trimEnd()}${ELLIPSIS}`;
}

const SHOWN_CHARS = 500;
const TEMPLATE =
  'Write a title of at most {max_words} words for this conversation, in the language of the user. ' +
  'Answer with the title alone.\n\nUser: {user_msg}\n\nAssistant: {assistant_msg}';

export interface TitleRequestOptions {
  /** With `{max_words}`, `{user_msg}` and `{assistant_msg}`; null for our own. */
  template: string | null;
  maxWords: number;
}

/** What a model is asked for a title; null while there is no exchange yet. */
export function titleRequest(messages: readonly Message[], { template, maxWords }: TitleRequestOptions): string | null {
  const user = userText(messages).trim();
  const answer = messages.findLast((message) => message.type === 'ai' && message.tool_calls.length === 0);
  if (user === '' || answer === undefined) return null;
  const values: Record<string, string> = {
    max_words: String(maxWords),
    user_msg: shown(user),
    assistant_msg: shown(withoutThinking(contentText(answer.content))),
  };
  // What users and models write may hold such names too: every place is filled once, in one pass.
  return (template ?? TEMPLATE).replaceAll(
    /\{(max_words|user_msg|assistant_msg)\}/g,
    (_, name: string) => values[name] ?? '',
  );
}

/** The title in a model's answer; null where it holds none. */
export function titleFromReply(text: string, maxChars: number): string | null {
  const line = withoutThinking(storableText(text)).replaceAll(/\s+/g, ' ').trim();
  const title = Array.from(line.replaceAll(/^["'“”„«»‘’]+|["'“”„«»‘’]+$/g, '').trim());
  return title.length === 0 ? null : title.slice(0, maxChars).join('').trimEnd();
}

function userText(messages: readonly Message[]): string {
  const first = messages.find(
    (message) => message.type === 'human' && message.additional_kwargs['hide_from_ui'] !== true,
  );
  return first === undefined ? '' : contentText(first.content);
}

function withoutThinking(text: string): string {
  return text.replaceAll(/<think>[\s\S]*?(<\/think>|$)/g, '');
}

function shown(text: string): string {
  return Array.from(text).slice(0, SHOWN_CHARS).join('');
}
