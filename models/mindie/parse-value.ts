/** The value of one parameter of a tool call. */
import type { JsonValue } from '../../contracts';
import { decodeNewlines } from './escaped-newlines';
import { exactNumber, numbersAreExact } from './exact-number';
import { readPythonLiteral } from './python-literal';

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i;
const WORDS = new Map<string, JsonValue>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/**
 * JSON and Python's notation keep their own escapes until they are read. Everything else is text, in which the newlines
 * are still escaped. A value that cannot be kept as it is meant stays the text that it was.
 */
export function parseValue(text: string): JsonValue {
  const trimmed = text.trim();
  const word = WORDS.get(trimmed);
  if (word !== undefined) return word;
  if (NUMBER.test(trimmed)) return exactNumber(trimmed) ?? trimmed;
  if (/^[[{]/.test(trimmed)) return parseContainer(trimmed);
  return plainText(trimmed);
}

function parseContainer(text: string): JsonValue {
  const value = parseJson(text);
  if (value !== undefined) return numbersAreExact(text) ? value : text;
  const literal = readPythonLiteral(text);
  switch (literal.kind) {
    case 'value':
      return literal.value;
    case 'unsafe':
      return text;
    case 'malformed':
      return plainText(text);
  }
}

function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

function plainText(text: string): string {
  return decodeNewlines(text).trim();
}
