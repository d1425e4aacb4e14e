import type { HumanMessage, JsonValue, Message } from '../../contracts';
import { repairToolCalls } from '../messages/repair-tool-calls';
import { contentText } from '../text';

/** What a model is shown of a conversation; the log itself stays as it is. */
export function requestMessages(log: readonly Message[]): Message[] {
  const shown = log.filter((message) => message.type !== 'system' && !isWithheld(message));
  return repairToolCalls(shown).map((message) => (message.type === 'human' ? withUploads(message) : message));
}

/** Answers that tell of a failure are for the user; an empty reply is refused by strict providers. */
function isWithheld(message: Message): boolean {
  if (message.type !== 'ai') return false;
  if (message.additional_kwargs['deerflow_error_fallback'] === true) return true;
  return message.tool_calls.length === 0 && contentText(message.content).trim() === '';
}

/** System text of a conversation, which goes behind our own prompt: strict providers take one system message only. */
export function conversationSystemText(log: readonly Message[]): string {
  const texts: string[] = [];
  for (const message of log) if (message.type === 'system') texts.push(contentText(message.content));
  return texts.join('\n\n');
}

const MAX_LISTED_FILES = 10;
const BYTES_PER_KIB = 1024;

interface UploadedFile {
  filename: string;
  size: number;
  path: string;
}

const shownWithUploads = new WeakMap<HumanMessage, HumanMessage>();

/** Names the files that came with a message before its text. One message gives one object: readers may know it again. */
function withUploads(message: HumanMessage): HumanMessage {
  const shown = shownWithUploads.get(message) ?? nameUploads(message);
  shownWithUploads.set(message, shown);
  return shown;
}

function nameUploads(message: HumanMessage): HumanMessage {
  const files = uploadedFiles(message.additional_kwargs['files'] ?? null);
  if (files.length === 0) return message;
  const block = uploadsBlock(files);
  if (typeof message.content === 'string') return { ...message, content: `${block}\n\n${message.content}` };
  return { ...message, content: [{ type: 'text', text: block }, ...message.content] };
}

function uploadsBlock(files: readonly UploadedFile[]): string {
  const listed = files.slice(0, MAX_LISTED_FILES);
  const left = files.length - listed.length;
  return [
    '<current_uploads>',
    'Files that came with this message:',
    '',
    ...listed.flatMap((file) => [
      `- ${withoutTags(file.filename)} (${(file.size / BYTES_PER_KIB).toFixed(1)} KB)`,
      `  Path: ${withoutTags(file.path)}`,
    ]),
    ...(left > 0 ? [`(and ${left} more in /mnt/user-data/uploads)`] : []),
    '</current_uploads>',
  ].join('\n');
}

/** A file name is text from outside: it must not be able to close the block. */
function withoutTags(text: string): string {
  return text
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(/[\r\n]/g, ' ');
}

export function uploadedFiles(value: JsonValue): UploadedFile[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item) => {
    if (item === null || typeof item !== 'object' || Array.isArray(item)) return [];
    const { filename, size, path } = item;
    if (typeof filename !== 'string' || typeof path !== 'string') return [];
    return [{ filename, path, size: typeof size === 'number' ? size : 0 }];
  });
}
