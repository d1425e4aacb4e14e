/**
 * Reads a list or a dictionary in Python's notation: models that were trained on Python write arguments like that.
 * Nothing is evaluated; what is no literal is refused.
 */
import type { JsonValue } from '../../contracts';
import { exactNumber } from './exact-number';
import { readPythonText } from './python-text';
import { Scanner } from './scanner';

export type PythonLiteral =
  | { kind: 'value'; value: JsonValue }
  /** A literal that has no equal in JSON: a set, bytes, a number out of range. */
  | { kind: 'unsafe' }
  | { kind: 'malformed' };

const DEEPEST = 100;
const WORDS = new Map<string, JsonValue>([
  ['True', true],
  ['False', false],
  ['None', null],
]);

class Malformed extends Error {}
class Unsafe extends Error {}

export function readPythonLiteral(text: string): PythonLiteral {
  const scanner = new Scanner(text);
  try {
    const value = readValue(scanner, 0);
    scanner.skipSpace();
    return scanner.atEnd ? { kind: 'value', value } : { kind: 'malformed' };
  } catch (error) {
    if (error instanceof Unsafe) return { kind: 'unsafe' };
    if (error instanceof Malformed) return { kind: 'malformed' };
    throw error;
  }
}

function readValue(scanner: Scanner, depth: number): JsonValue {
  if (depth > DEEPEST) throw new Unsafe();
  scanner.skipSpace();
  if (scanner.take('[')) return readItems(scanner, ']', depth);
  if (scanner.take('(')) return readTuple(scanner, depth);
  if (scanner.take('{')) return readDictionary(scanner, depth);
  const text = readTexts(scanner);
  if (text !== null) return text;
  const word = scanner.match(/[A-Za-z_]\w*/y);
  if (word !== null) {
    const value = WORDS.get(word);
    if (value === undefined) throw new Malformed();
    return value;
  }
  return readNumber(scanner);
}

/** Items up to the closing bracket; a comma may stand before it. */
function readItems(scanner: Scanner, close: string, depth: number): JsonValue[] {
  const items: JsonValue[] = [];
  for (;;) {
    scanner.skipSpace();
    if (scanner.take(close)) return items;
    items.push(readValue(scanner, depth + 1));
    scanner.skipSpace();
    if (!scanner.take(',')) {
      if (scanner.take(close)) return items;
      throw new Malformed();
    }
  }
}

/** One value in parentheses without a comma is that value. */
function readTuple(scanner: Scanner, depth: number): JsonValue {
  const from = scanner.position;
  const items = readItems(scanner, ')', depth);
  const [only] = items;
  const comma = /,\s*\)$/.test(scanner.text.slice(from, scanner.position));
  return items.length === 1 && only !== undefined && !comma ? only : items;
}

function readDictionary(scanner: Scanner, depth: number): JsonValue {
  const entries: Array<[string, JsonValue]> = [];
  for (;;) {
    scanner.skipSpace();
    if (scanner.take('}')) return Object.fromEntries(entries);
    const key = readValue(scanner, depth + 1);
    scanner.skipSpace();
    if (!scanner.take(':')) {
      // The first comma or the end after a value: a set.
      if (entries.length === 0 && /[,}]/.test(scanner.next)) throw new Unsafe();
      throw new Malformed();
    }
    if (typeof key !== 'string' && typeof key !== 'number') throw new Unsafe();
    entries.push([String(key), readValue(scanner, depth + 1)]);
    scanner.skipSpace();
    if (!scanner.take(',') && scanner.next !== '}') throw new Malformed();
  }
}

/** Texts that follow each other are one. Null where there is none. */
function readTexts(scanner: Scanner): string | null {
  let joined: string | null = null;
  for (;;) {
    const text = readPythonText(scanner);
    if (text.kind === 'none') return joined;
    if (text.kind === 'unsafe') throw new Unsafe();
    if (text.kind === 'malformed') throw new Malformed();
    joined = (joined ?? '') + text.value;
    scanner.skipSpace();
  }
}

function readNumber(scanner: Scanner): number {
  const number = scanner.match(/[+-]?(?:\d+(?:_\d+)*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y)?.replaceAll('_', '');
  if (number === undefined || /^[+-]?0\d+$/.test(number)) throw new Malformed();
  if (/[jJ]/.test(scanner.next)) throw new Unsafe();
  const value = exactNumber(number);
  if (value === null) throw new Unsafe();
  return value;
}
