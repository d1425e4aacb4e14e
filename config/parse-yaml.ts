/** Bytes of a YAML file to plain JSON-like data, with limits on what a hostile or broken file can cost. */
import { isNode, LineCounter, parseDocument } from 'yaml';
import type { Document, YAMLError } from 'yaml';
import type { AppError } from '../contracts';
import { configError, unnumbered } from './config-error';
import type { ConfigSource } from './config-error';
import { findFault } from './yaml-faults';

const MAX_BYTES = 2 * 1024 * 1024;
/** How often aliases may be expanded; a few hundred shared anchors are honest, a "billion laughs" file is not. */
const MAX_ALIAS_COUNT = 1000;
const MAX_DEPTH = 64;
const TOO_DEEP = `expected at most ${MAX_DEPTH} nested levels`;
/** Keys of a path that are named where it leads too deep. */
const NAMED_LEVELS = 5;

export type PlainValue = null | boolean | number | string | PlainValue[] | { [key: string]: PlainValue };

export interface ParsedYaml {
  value: { [key: string]: PlainValue };
  /** Knows the lines of the values. */
  source: ConfigSource;
}

/** Parses the YAML 1.1 dialect that existing files are written in: `yes` and `on` are booleans, `<<` merges. */
export function parseYaml(bytes: Uint8Array, file: string): ParsedYaml {
  const text = decode(bytes, file);
  const lineCounter = new LineCounter();
  // The parser compares each key with each other, which for a large file takes minutes: `findFault` looks instead.
  const options = { schema: 'yaml-1.1', version: '1.1', uniqueKeys: false, merge: true, lineCounter } as const;
  const document = parseDocument(text, options);
  const problem = document.errors[0] ?? document.warnings[0];
  if (problem !== undefined) {
    throw errorAt(file, problem.linePos?.[0].line ?? null, describe(problem));
  }
  const fault = findFault(document, lineCounter);
  if (fault !== null) throw errorAt(file, fault.line, fault.problem);
  const source = sourceOf(file, document, lineCounter);
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: MAX_ALIAS_COUNT });
  } catch {
    throw configError(file, [], 'expected fewer aliases: expanding them would use up the memory');
  }
  if (value === null || value === undefined) return { value: {}, source };
  const plain = toPlain(value, source, []);
  if (typeof plain !== 'object' || plain === null || Array.isArray(plain)) {
    throw configError(file, [], 'expected a mapping of keys to values at the top level');
  }
  return { value: plain, source };
}

/** A value that is missing, or that was merged in from elsewhere, is looked for where it should have been. */
function sourceOf(file: string, document: Document, lines: LineCounter): ConfigSource {
  return {
    ...unnumbered(file),
    lineOf(path) {
      for (let length = path.length; length > 0; length -= 1) {
        const node: unknown = document.getIn(path.slice(0, length), true);
        if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
      }
      return null;
    },
  };
}

/** Where the parser's words are those of its callers, or repeat what stands in the file. */
const OWN_WORDS: Partial<Record<YAMLError['code'], string>> = {
  MULTIPLE_DOCS: 'expected one document; another one begins here',
  TAG_RESOLVE_FAILED: 'a value that begins with ! is of a kind that is not known; put it into quotes',
};

/** What stands there is not repeated: it may be a key, and the state of the configuration is shown to everybody. */
function describe({ code, message }: YAMLError): string {
  if (/call stack/.test(message)) return TOO_DEEP;
  const [firstLine = ''] = message.split('\n');
  return OWN_WORDS[code] ?? firstLine.replace(/ at line \d+, column \d+:?$/, '').replace(/:? *".*|: .*/, '');
}

function errorAt(file: string, line: number | null, problem: string): AppError {
  return configError({ name: file, lineOf: () => line }, [], problem);
}

function decode(bytes: Uint8Array, file: string): string {
  if (bytes.byteLength > MAX_BYTES) {
    throw configError(file, [], `expected at most ${MAX_BYTES} bytes, got ${bytes.byteLength}`);
  }
  try {
    // The decoder also removes a byte order mark.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw configError(file, [], 'expected UTF-8 text');
  }
}

/** Copies the value so that nothing is shared, and refuses what JSON cannot express, such as dates and binary data. */
function toPlain(value: unknown, source: ConfigSource, path: Array<string | number>): PlainValue {
  if (path.length > MAX_DEPTH) throw configError(source, path.slice(0, NAMED_LEVELS), TOO_DEEP);
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (Array.isArray(value)) return value.map((item, index) => toPlain(item, source, [...path, index]));
  if (typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype) {
    const copy: { [key: string]: PlainValue } = {};
    for (const [key, item] of Object.entries(value)) {
      if (key === '__proto__') throw configError(source, [...path, key], 'unknown key');
      copy[key] = toPlain(item, source, [...path, key]);
    }
    return copy;
  }
  throw configError(source, path, 'expected text, a number, true, false, a list or a mapping (quote dates)');
}
