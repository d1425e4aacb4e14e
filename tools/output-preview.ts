/** What the model sees of a result that was too long: what kind of text it is, its shape, what stands out. */
import { parse as parseYaml } from 'yaml';

export type PreviewKind = 'json' | 'csv' | 'tsv' | 'yaml' | 'xml' | 'code' | 'text' | 'unknown';

export interface OutputPreview {
  kind: PreviewKind;
  title: string;
  structure: string[];
  notable: string[];
}

const LARGEST_PARSED_BYTES = 5_000_000;
const SAMPLE_LINES = 40;
const LONGEST_ITEM = 200;
const MOST_ITEMS = 10;

const CODE_LINE =
  /^\s*(?:import |from \S+ import |export |def |class |function |async |const |let |var |public |private |#include|package |use |fn |func |interface |struct |return\b)/;
const YAML_LINE = /^\s*(?:- )?["']?[\w./-]+["']?:(?:\s|$)|^\s*- \S/;
const NOTABLE = /\b(?:error|warning|exception|failed|failure|traceback|fatal|denied)\b/i;

export function previewOf(text: string): OutputPreview {
  const size = Buffer.byteLength(text);
  if (size > LARGEST_PARSED_BYTES) {
    return { kind: 'unknown', title: `${size} bytes, too large to look into`, structure: [], notable: [] };
  }
  const lines = text.split('\n');
  const shape =
    jsonShape(text) ??
    tableShape(lines) ??
    xmlShape(text) ??
    codeShape(lines) ??
    yamlShape(text, lines) ??
    textShape(lines);
  return { ...shape, structure: shape.structure.slice(0, MOST_ITEMS).map(short), notable: notableLines(lines) };
}

type Shape = Omit<OutputPreview, 'notable'>;

function jsonShape(text: string): Shape | null {
  if (!/^\s*[[{]/.test(text)) return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (Array.isArray(value)) {
    const title = `JSON array of ${value.length} items`;
    return { kind: 'json', title, structure: [`first item: ${describe(value[0])}`] };
  }
  const entries = Object.entries(value as object);
  const structure = entries.map(([key, item]) => `${key}: ${describe(item)}`);
  return { kind: 'json', title: `JSON object with ${entries.length} keys`, structure };
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return `array of ${value.length}`;
  if (value === null) return 'null';
  if (typeof value === 'object') return `object with ${Object.keys(value).slice(0, 12).join(', ') || 'no keys'}`;
  return `${typeof value} ${JSON.stringify(value) ?? ''}`.trim();
}

function tableShape(lines: string[]): Shape | null {
  const sample = lines.filter((line) => line.trim() !== '').slice(0, SAMPLE_LINES);
  if (sample.length < 3) return null;
  for (const [kind, separator] of [
    ['tsv', '\t'],
    ['csv', ','],
  ] as const) {
    const columns = sample.map((line) => line.split(separator).length);
    const [first = 1] = columns;
    if (first < 2 || !columns.every((count) => count === first)) continue;
    const rows = lines.filter((line) => line.trim() !== '').length - 1;
    const title = `Table of ${first} columns and ${rows} rows`;
    return { kind, title, structure: [`columns: ${(sample[0] ?? '').split(separator).join(', ')}`] };
  }
  return null;
}

function xmlShape(text: string): Shape | null {
  const root = /^\s*(?:<\?xml[^>]*>\s*)?(?:<!doctype[^>]*>\s*)?<([A-Za-z][\w:.-]*)/i.exec(text)?.[1];
  if (root === undefined) return null;
  const counts = new Map<string, number>();
  for (const [, name = ''] of text.matchAll(/<([A-Za-z][\w:.-]*)/g)) counts.set(name, (counts.get(name) ?? 0) + 1);
  const usual = [...counts].sort((a, b) => b[1] - a[1]).slice(0, MOST_ITEMS);
  return {
    kind: 'xml',
    title: `Markup with the root <${root}>`,
    structure: usual.map(([name, count]) => `<${name}>: ${count}`),
  };
}

function codeShape(lines: string[]): Shape | null {
  const declarations = lines.filter((line) => CODE_LINE.test(line));
  const sample = lines.slice(0, SAMPLE_LINES).filter((line) => CODE_LINE.test(line));
  if (sample.length < 3) return null;
  const structure = declarations.filter((line) => /\b(?:class|def|function|fn|func|interface|struct)\b/.test(line));
  return {
    kind: 'code',
    title: `Source text of ${lines.length} lines`,
    structure: structure.map((line) => line.trim()),
  };
}

function yamlShape(text: string, lines: string[]): Shape | null {
  const sample = lines.slice(0, SAMPLE_LINES).filter((line) => line.trim() !== '' && !/^\s*#/.test(line));
  if (sample.length < 3 || sample.filter((line) => YAML_LINE.test(line)).length < sample.length * 0.8) return null;
  try {
    // Parsing all of a long text takes long; its beginning tells enough.
    parseYaml(lines.slice(0, SAMPLE_LINES).join('\n'), { logLevel: 'silent' });
  } catch {
    return null;
  }
  const keys = [...text.matchAll(/^([\w./-]+):/gm)].map(([, key = '']) => key);
  return { kind: 'yaml', title: `YAML with ${keys.length} keys at the top`, structure: keys };
}

function textShape(lines: string[]): Shape {
  const first = lines.find((line) => line.trim() !== '')?.trim() ?? '';
  const sample = lines.slice(0, SAMPLE_LINES).join('\n');
  const odd = sample.match(/[\0-\x08\x0e-\x1f\x7f\ufffd]/g)?.length ?? 0;
  const headings = lines.filter((line) => /^#{1,6} \S/.test(line));
  return {
    kind: odd > sample.length * 0.05 ? 'unknown' : 'text',
    title: short(first),
    structure: [`${lines.length} lines`, ...headings],
  };
}

function notableLines(lines: string[]): string[] {
  const found: string[] = [];
  for (let index = 0; index < lines.length && found.length < MOST_ITEMS / 2; index += 1) {
    const line = lines[index] ?? '';
    if (NOTABLE.test(line.slice(0, 2_000))) found.push(short(`line ${index + 1}: ${line.trim()}`));
  }
  return found;
}

function short(text: string): string {
  return text.length > LONGEST_ITEM ? `${text.slice(0, LONGEST_ITEM - 3)}...` : text;
}
