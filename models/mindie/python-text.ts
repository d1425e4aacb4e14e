/** Texts of Python: four kinds of quotes, raw texts and escapes. */
import type { Scanner } from './scanner';

export type PythonText =
  | { kind: 'value'; value: string }
  /** There is no text here. */
  | { kind: 'none' }
  /** Bytes have no equal in JSON. */
  | { kind: 'unsafe' }
  | { kind: 'malformed' };

const OPENING = /([A-Za-z]{0,2})("""|'''|"|')/y;
const ESCAPE = /\\(?:\r?\n|[0-7]{1,3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[\s\S])/g;
const SIMPLE: Readonly<Record<string, string>> = {
  '\\': '\\',
  "'": "'",
  '"': '"',
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

export function readPythonText(scanner: Scanner): PythonText {
  OPENING.lastIndex = scanner.position;
  const [opening, prefix = '', quote = ''] = OPENING.exec(scanner.text) ?? [];
  if (opening === undefined) return { kind: 'none' };
  const kind = prefix.toLowerCase();
  if (!['', 'r', 'u', 'b', 'br', 'rb'].includes(kind)) return { kind: 'malformed' };
  const body = bodyAt(scanner.text, scanner.position + opening.length, quote);
  if (body === null) return { kind: 'malformed' };
  scanner.position += opening.length + body.length + quote.length;
  if (kind.includes('b')) return { kind: 'unsafe' };
  if (kind === 'r') return { kind: 'value', value: body };
  const value = unescape(body);
  return value === null ? { kind: 'malformed' } : { kind: 'value', value };
}

/** What is between the quotes; null where they are not closed, or closed on another line without being triple. */
function bodyAt(text: string, from: number, quote: string): string | null {
  for (let position = from; position < text.length; position += 1) {
    const character = text.charAt(position);
    if (character === '\\') {
      position += 1;
    } else if (text.startsWith(quote, position)) {
      return text.slice(from, position);
    } else if (character === '\n' && quote.length === 1) {
      return null;
    }
  }
  return null;
}

/** Null where an escape names no character. */
function unescape(body: string): string | null {
  let named = true;
  const value = body.replaceAll(ESCAPE, (escape) => {
    const character = meant(escape.slice(1));
    if (character === null) named = false;
    return character ?? '';
  });
  return named ? value : null;
}

function meant(code: string): string | null {
  if (/^\r?\n$/.test(code)) return '';
  if (/^[0-7]+$/.test(code)) return String.fromCodePoint(Number.parseInt(code, 8));
  if (/^[xuU][0-9a-fA-F]+$/.test(code) && code.length > 1) {
    const point = Number.parseInt(code.slice(1), 16);
    return point <= 0x10ffff ? String.fromCodePoint(point) : null;
  }
  if (/^[xuUN]$/.test(code)) return null;
  // What is no escape is a backslash and a character.
  return SIMPLE[code] ?? `\\${code}`;
}
