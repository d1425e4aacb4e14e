/** The demo model's report: everything in it is counted from the files, nothing is invented. */

export interface ReadFile {
  path: string;
  /** Null where the file could not be read. */
  text: string | null;
  /** What the tool said instead. */
  error: string | null;
}

export interface Report {
  title: string;
  markdown: string;
}

const FIRST_LINES = 8;
const LINE_CHARS = 160;
const TOP_WORDS = 8;
const MAX_HEADINGS = 12;
const MAX_WISH_CHARS = 2000;

const COMMON_WORDS = new Set(
  (
    'about after all also and any are been before but can could did does each for from had has have her here his how into ' +
    'its just like more most not now one only other our out over should some such than that the their them then there ' +
    'these they this those through too under until very was were what when where which while who will with would you your'
  ).split(' '),
);

export function buildReport(wish: string, files: readonly ReadFile[]): Report {
  const title = `Report: ${firstLine(wish)}`;
  const quoted = shorten(wish, MAX_WISH_CHARS)
    .split('\n')
    .map((line) => `> ${line}`.trimEnd());
  const lines = [`# ${title}`, '', '## The request', '', ...quoted, '', '## The files', '', ...overview(files)];
  for (const file of files) lines.push('', ...fileSection(file));
  lines.push('', '---', '', 'Written by the built-in demo model, which counts but does not understand.');
  if (files.length > 0) lines.push('The numbers are of what the reading tool returned; it shortens very long files.');
  return { title, markdown: `${lines.join('\n')}\n` };
}

function overview(files: readonly ReadFile[]): string[] {
  if (files.length === 0) return ['No files were uploaded.'];
  const rows = files.map(({ path, text }) => {
    const cells = text === null ? ['—', '—', '—'] : Object.values(sizeOf(text)).map(String);
    return `| ${baseName(path).replaceAll('|', '\\|')} | ${cells.join(' | ')} |`;
  });
  return ['| File | Lines | Words | Characters |', '| --- | ---: | ---: | ---: |', ...rows];
}

function fileSection({ path, text, error }: ReadFile): string[] {
  const heading = `### ${baseName(path)}`;
  if (text === null) {
    return [
      heading,
      '',
      `The file could not be read. The tool said: ${shorten(firstLine(error ?? 'nothing'), LINE_CHARS)}`,
    ];
  }
  const { lines, words, characters } = sizeOf(text);
  const section = [
    heading,
    '',
    `Size: ${count(lines, 'line')}, ${count(words, 'word')}, ${count(characters, 'character')}.`,
  ];
  if (text === '') return section;
  const beginning = text
    .trimEnd()
    .split('\n')
    .slice(0, FIRST_LINES)
    .map((line) => shorten(line.trimEnd(), LINE_CHARS));
  const fence = longestFence(beginning);
  section.push('', 'First lines:', '', `${fence}text`, ...beginning, fence);
  const frequent = frequentWords(text);
  if (frequent.length > 0) {
    section.push('', `Most frequent words: ${frequent.map(([word, times]) => `${word} (${times})`).join(', ')}.`);
  }
  const headings = headingsOf(text);
  if (headings.length > 0) section.push('', 'Headings found:', '', ...headings.map((found) => `- ${found}`));
  return section;
}

function sizeOf(text: string): { lines: number; words: number; characters: number } {
  const withoutLastBreak = text.endsWith('\n') ? text.slice(0, -1) : text;
  return {
    lines: text === '' ? 0 : withoutLastBreak.split('\n').length,
    words: text.match(/\S+/g)?.length ?? 0,
    characters: Array.from(text).length,
  };
}

function frequentWords(text: string): Array<[string, number]> {
  const counts = new Map<string, number>();
  for (const [word] of text.toLowerCase().matchAll(/\p{L}[\p{L}\p{M}\p{N}'-]{2,}/gu)) {
    if (!COMMON_WORDS.has(word)) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const sorted = [...counts].sort(([a, timesA], [b, timesB]) => timesB - timesA || (a < b ? -1 : 1));
  return sorted.slice(0, TOP_WORDS);
}

function headingsOf(text: string): string[] {
  const found = [...text.matchAll(/^#{1,6} +(.+?) *#*$/gm)].map((match) => shorten(match[1] ?? '', LINE_CHARS));
  const rest = found.length - MAX_HEADINGS;
  return rest > 0 ? [...found.slice(0, MAX_HEADINGS), `and ${rest} more`] : found;
}

/** A fence that the quoted lines cannot close. */
function longestFence(lines: readonly string[]): string {
  const longest = Math.max(2, ...lines.flatMap((line) => (line.match(/`+/g) ?? []).map((run) => run.length)));
  return '`'.repeat(longest + 1);
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function firstLine(text: string): string {
  const line = text.split('\n').find((candidate) => candidate.trim() !== '') ?? 'without words';
  return shorten(line.trim(), 80);
}

function shorten(text: string, length: number): string {
  const characters = Array.from(text);
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join('')}…`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
