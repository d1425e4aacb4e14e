import type { HumanMessage, Message } from '../../contracts';
import { contentText, shorten } from '../text';

/** Characters that what is kept of a conversation should have; a token is about four of English and one of Chinese. */
const KEPT_CHARS = 60_000;
/** A result of a tool, or a reply, is cut to this much. */
const LONGEST_TEXT_CHARS = 4_000;
const LONGEST_NOTE_LINE_CHARS = 200;
const MAX_NOTE_LINES = 20;

/**
 * A shorter request for a model that could not read the whole: the newest message of the user and the newest turns,
 * long results cut, and a note in the place of what is older. A call keeps its result, and a result its call. Null where
 * nothing can be left out. The log stays as it is.
 */
export function compactRequest(request: readonly Message[]): Message[] | null {
  // What we tell the model ourselves at the end is neither a question of the user nor a turn.
  const end = request.findLastIndex((message) => !isHint(message)) + 1;
  const compact = compactConversation(request.slice(0, end));
  return compact === null ? null : [...compact, ...request.slice(end)];
}

function isHint({ type, additional_kwargs: extra }: Message): boolean {
  return type === 'human' && extra['hide_from_ui'] === true;
}

function isQuestion(message: Message): boolean {
  return message.type === 'human' && !isHint(message);
}

function compactConversation(messages: readonly Message[]): Message[] | null {
  const total = messages.reduce((sum, message) => sum + size(message), 0);
  const budget = Math.min(KEPT_CHARS, Math.floor(total / 2));
  const turns = splitTurns(messages.map(cutLongText));
  const newestUser = turns.findLastIndex(([first]) => first !== undefined && isQuestion(first));
  const kept = new Set<number>(newestUser < 0 ? [] : [newestUser]);
  let used = newestUser < 0 ? 0 : turnSize(turns[newestUser]);
  for (let index = turns.length - 1; index >= 0; index -= 1) {
    if (index === newestUser) continue;
    used += turnSize(turns[index]);
    // The newest turn stays, whatever its size: it is what the model goes on from.
    if (used > budget && index !== turns.length - 1) break;
    kept.add(index);
  }
  const compact = withNote(turns, kept);
  return compact.length === messages.length && compact.every((message, index) => message === messages[index])
    ? null
    : compact;
}

/** A reply with the results of its calls is one turn; any other message is one by itself. */
function splitTurns(messages: readonly Message[]): Message[][] {
  const turns: Message[][] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    if (message.type === 'tool' && last !== undefined && last[0]?.type === 'ai') last.push(message);
    else turns.push([message]);
  }
  return turns;
}

/** One note at the start speaks of all that is missing, also between the user's newest message and the newest turns. */
function withNote(turns: readonly Message[][], kept: ReadonlySet<number>): Message[] {
  const left = turns.filter((_, index) => !kept.has(index)).flat();
  const shown = turns.filter((_, index) => kept.has(index)).flat();
  if (left.length === 0) return shown;
  const note = noteOf(left);
  const [first, ...rest] = shown;
  // Two messages of the user in a row are refused by strict providers.
  if (first?.type !== 'human') return [note, ...shown];
  return [joined(note, first), ...rest];
}

function joined(note: HumanMessage, message: HumanMessage): HumanMessage {
  const text = contentText(note.content);
  if (typeof message.content === 'string') return { ...message, content: `${text}\n\n${message.content}` };
  return { ...message, content: [{ type: 'text', text }, ...message.content] };
}

function noteOf(left: readonly Message[]): HumanMessage {
  const asked = left.filter(isQuestion).map(({ content }) => `- ${lineOf(contentText(content))}`);
  const listed = asked.slice(-MAX_NOTE_LINES);
  const lines = [
    '<left_out>',
    `The conversation is too long to be shown whole: ${left.length} messages are left out.`,
    ...(listed.length === 0 ? [] : ['In them the user wrote:', ...listed]),
    ...(asked.length > listed.length ? [`(and ${asked.length - listed.length} messages before these)`] : []),
    'Results of tools that are needed again can be had by calling the tools again.',
    '</left_out>',
  ];
  return {
    type: 'human',
    id: `${left[0]?.id ?? ''}:left-out`,
    name: null,
    content: lines.join('\n'),
    additional_kwargs: {},
    response_metadata: {},
  };
}

/** Text of the user in our own block must not be able to close it. */
function lineOf(text: string): string {
  const line = text.replace(/\s+/g, ' ').replaceAll('<', '&lt;').replaceAll('>', '&gt;').trim();
  return shorten(line, LONGEST_NOTE_LINE_CHARS);
}

function cutLongText(message: Message): Message {
  if (message.type === 'human' || message.type === 'system') return message;
  if (typeof message.content === 'string') {
    if (message.content.length <= LONGEST_TEXT_CHARS) return message;
    return { ...message, content: shorten(message.content, LONGEST_TEXT_CHARS) };
  }
  return message.type === 'tool'
    ? { ...message, content: shorten(contentText(message.content), LONGEST_TEXT_CHARS) }
    : message;
}

function turnSize(turn: readonly Message[] | undefined): number {
  return (turn ?? []).reduce((sum, message) => sum + size(message), 0);
}

function size(message: Message): number {
  const calls = message.type === 'ai' ? JSON.stringify(message.tool_calls).length : 0;
  return contentText(message.content).length + calls;
}
