/** What the demo model does next. It keeps no state: everything follows from the conversation. Pure. */
import type { Conversation, ToolExchange } from './conversation';
import { baseName, buildReport } from './report';
import type { ReadFile, Report } from './report';

export interface DemoCall {
  tool: string;
  args: Record<string, unknown>;
}

export type DemoStep = { kind: 'calls'; calls: DemoCall[] } | { kind: 'text'; text: string };

const UPLOADS = '/mnt/user-data/uploads';
const OUTPUTS = '/mnt/user-data/outputs';
const MAX_FILES = 5;
/** A file of the same name may exist that the conversation no longer shows; then another name is tried. */
const MAX_WRITES = 3;

export function nextStep(conversation: Conversation): DemoStep {
  const { tools, exchanges, wish } = conversation;
  const done = (tool: string) => exchanges.filter((exchange) => exchange.tool === tool);
  const files = uploadedFiles(conversation);
  if (files === null) return one('ls', { description: 'Look for uploaded files', path: UPLOADS });
  if (files.length > 0 && tools.has('read_file') && done('read_file').length === 0) {
    const description = (path: string) => `Read ${baseName(path)}`;
    const calls = files.map((path) => ({ tool: 'read_file', args: { description: description(path), path } }));
    return { kind: 'calls', calls };
  }
  const read = done('read_file').map(toReadFile);
  const report = buildReport(wish, read);
  const writes = done('write_file');
  const written = writes.find(succeeded);
  if (written === undefined && tools.has('write_file') && writes.length < MAX_WRITES) {
    const path = freeName(wish, conversation.writtenPaths);
    return one('write_file', { description: 'Write the report', path, content: report.markdown });
  }
  const path = written === undefined ? null : String(written.args.path);
  if (path !== null && tools.has('present_files') && done('present_files').length === 0) {
    return one('present_files', { filepaths: [path] });
  }
  return { kind: 'text', text: closingWords(conversation, { read, report, path }) };
}

function one(tool: string, args: Record<string, unknown>): DemoStep {
  return { kind: 'calls', calls: [{ tool, args }] };
}

/** Null where the folder has to be listed first. */
function uploadedFiles({ uploads, exchanges, tools }: Conversation): string[] | null {
  if (uploads.length > 0) return uploads.slice(0, MAX_FILES);
  if (!tools.has('ls')) return [];
  const listing = exchanges.find(({ tool }) => tool === 'ls');
  if (listing === undefined) return null;
  if (!succeeded(listing)) return [];
  const lines = (listing.result ?? '').split('\n').map((line) => line.trim());
  return lines.filter((line) => line.startsWith(`${UPLOADS}/`) && !line.endsWith('/')).slice(0, MAX_FILES);
}

function succeeded({ result }: ToolExchange): boolean {
  return result !== null && !/^error\b/i.test(result.trimStart());
}

function toReadFile(exchange: ToolExchange): ReadFile {
  const path = String(exchange.args.path);
  if (!succeeded(exchange)) return { path, text: null, error: exchange.result };
  return { path, text: exchange.result === '(empty)' ? '' : exchange.result, error: null };
}

/** `notes-report.md`, or `-2`, `-3`, … where the conversation has written that name already. */
function freeName(wish: string, taken: ReadonlySet<string>): string {
  const plain = wish.normalize('NFKD').toLowerCase().replace(/\p{M}/gu, '');
  const words = (plain.match(/[a-z0-9]+/g) ?? []).slice(0, 6).join('-').slice(0, 48);
  const stem = `${OUTPUTS}/${words.replace(/-+$/, '') || 'request'}-report`;
  for (let number = 1; ; number += 1) {
    const path = number === 1 ? `${stem}.md` : `${stem}-${number}.md`;
    if (!taken.has(path)) return path;
  }
}

interface Work {
  read: readonly ReadFile[];
  report: Report;
  path: string | null;
}

function closingWords({ exchanges }: Conversation, { read, report, path }: Work): string {
  const readable = read.filter(({ text }) => text !== null).map(({ path: file }) => baseName(file));
  const unreadable = read.filter(({ text }) => text === null).map(({ path: file }) => baseName(file));
  const presented = exchanges.some((exchange) => exchange.tool === 'present_files' && succeeded(exchange));
  const sentences = [
    'This answer comes from the built-in demo model: it works without a provider and follows a fixed plan instead of understanding you.',
    readable.length > 0 ? `I read ${readable.join(', ')}.` : 'I found no uploaded file that I could read.',
    unreadable.length > 0 ? `I could not read ${unreadable.join(', ')}; the report says why.` : '',
    path === null ? 'I could not write a file, so the report stands below.' : `I wrote the report ${path}`,
    path === null ? '' : presented ? 'and put it among the files of this conversation.' : 'but could not present it.',
  ];
  const howTo =
    'To talk to a real model, add an entry under `models:` in config.yaml with a `name`, `use: langchain_openai:ChatOpenAI`, ' +
    "the provider's `model`, `api_key: $OPENAI_API_KEY` and, for another provider, its `base_url`; then start the server again.";
  const work = sentences.filter((sentence) => sentence !== '').join(' ');
  return [work, howTo, ...(path === null ? [report.markdown.trim()] : [])].join('\n\n');
}
