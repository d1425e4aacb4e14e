/** Bytes of a YAML file to plain JSON-like data, with limits on what a hostile or broken file can cost. */
import { parseDocument } from 'yaml';
import { configError, dottedKey } from './config-error';

const MAX_BYTES = 2 * 1024 * 1024;
/** How often aliases may be expanded; a few hundred shared anchors are honest, a "billion laughs" file is not. */
const MAX_ALIAS_COUNT = 1000;
const MAX_DEPTH = 64;

export type PlainValue = null | boolean | number | string | PlainValue[] | { [key: string]: PlainValue };

/** Parses the YAML 1.1 dialect that existing files are written in: `yes` and `on` are booleans, `<<` merges. */
export function parseYaml(bytes: Uint8Array, file: string): { [key: string]: PlainValue } {
  const text = decode(bytes, file);
  const document = parseDocument(text, { schema: 'yaml-1.1', version: '1.1', uniqueKeys: true, merge: true });
  const problem = document.errors[0] ?? document.warnings[0];
  if (problem !== undefined) {
    const line = problem.linePos?.[0].line;
    // What stands there is not repeated: it may be a key, and the state of the configuration is shown to everybody.
    const message = (problem.message.split('\n')[0] ?? '')
      .replace(/ at line \d+, column \d+:?$/, '')
      .replace(/:? *"(?:[^"\\]|\\.)*"?/g, '');
    throw configError(file, line === undefined ? '' : `line ${line}`, message);
  }
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: MAX_ALIAS_COUNT });
  } catch {
    throw configError(file, '', 'expected fewer aliases: expanding them would use up the memory');
  }
  if (value === null || value === undefined) return {};
  const plain = toPlain(value, file, []);
  if (typeof plain !== 'object' || plain === null || Array.isArray(plain)) {
    throw configError(file, '', 'expected a mapping of keys to values at the top level');
  }
  return plain;
}

function decode(bytes: Uint8Array, file: string): string {
  if (bytes.byteLength > MAX_BYTES) throw configError(file, '', `expected at most ${MAX_BYTES} bytes`);
  try {
    // The decoder also removes a byte order mark.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw configError(file, '', 'expected UTF-8 text');
  }
}

/** Copies the value so that nothing is shared, and refuses what JSON cannot express, such as dates and binary data. */
function toPlain(value: unknown, file: string, path: Array<string | number>): PlainValue {
  if (path.length > MAX_DEPTH) throw configError(file, dottedKey(path), `expected at most ${MAX_DEPTH} nested levels`);
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (Array.isArray(value)) return value.map((item, index) => toPlain(item, file, [...path, index]));
  if (typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype) {
    const copy: { [key: string]: PlainValue } = {};
    for (const [key, item] of Object.entries(value)) {
      if (key === '__proto__') throw configError(file, dottedKey([...path, key]), 'unknown key');
      copy[key] = toPlain(item, file, [...path, key]);
    }
    return copy;
  }
  throw configError(file, dottedKey(path), 'expected text, a number, true, false, a list or a mapping (quote dates)');
}
