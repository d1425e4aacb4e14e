/** Which keys of a file the schema knows, and which of them have an effect. */
import { isDeepStrictEqual } from 'node:util';
import { configSchema, INACTIVE_KEYS } from '../contracts/schemas/config';
import type { Config } from '../contracts/schemas/config';
import type { PlainValue } from './parse-yaml';
import { keysAt } from './schema-keys';

type Mapping = { [key: string]: PlainValue };

/**
 * Takes out what the schema does not know where DeerFlow ignores it: sections and keys of newer versions. Where unknown
 * keys are refused or passed on to a provider, they stay.
 */
export function splitUnknown(document: Mapping): { known: Mapping; unknown: string[] } {
  const unknown: string[] = [];
  const walk = (value: PlainValue, path: Array<string | number>): PlainValue => {
    if (Array.isArray(value)) return value.map((item, index) => walk(item, [...path, index]));
    if (!isMapping(value)) return value;
    const keys = keysAt(path);
    const kept = Object.entries(value).filter(([key]) => {
      const stays = keys === null || keys.has(key) || (path.length === 0 && looksMistyped(key, keys));
      if (!stays) unknown.push(dotted([...path, key]));
      return stays;
    });
    return Object.fromEntries(kept.map(([key, item]) => [key, walk(item, [...path, key])]));
  };
  const known = walk(document, []);
  return { known: isMapping(known) ? known : {}, unknown };
}

export interface InactiveKeys {
  /** Set to something else than their defaults. */
  changed: readonly string[];
  /** Written down with their defaults. */
  usual: readonly string[];
}

/** Names of the keys of a file that have no effect, in the words of `INACTIVE_KEYS`. */
export function inactiveKeys(document: Mapping, config: Config): InactiveKeys {
  const defaults = configSchema.parse({});
  const isUsual = (name: string) => isDeepStrictEqual(valueAt(config, name), valueAt(defaults, name));
  const written = INACTIVE_KEYS.filter((name) => valueAt(document, name) !== undefined);
  return {
    changed: written.filter((name) => !isUsual(name)),
    usual: written.filter(isUsual),
  };
}

function valueAt(values: object, name: string): unknown {
  return name
    .split('.')
    .reduce<unknown>((inner, part) => (inner instanceof Object ? Reflect.get(inner, part) : undefined), values);
}

/** A key without a value counts as absent, at any depth: its lines may all be commented out. */
export function withoutNulls(value: Mapping): Mapping {
  const strip = (item: PlainValue): PlainValue => {
    if (Array.isArray(item)) return item.map(strip);
    if (!isMapping(item)) return item;
    const kept = Object.entries(item).filter(([, inner]) => inner !== null);
    return Object.fromEntries(kept.map(([key, inner]) => [key, strip(inner)]));
  };
  const stripped = strip(value);
  return isMapping(stripped) ? stripped : {};
}

/** One letter off, or two swapped: a whole section would be without effect, and nobody would know why. */
function looksMistyped(key: string, known: ReadonlySet<string>): boolean {
  const sorted = (word: string) => [...word].sort().join('');
  return [...known].some((name) => name !== key && name.length === key.length && sorted(name) === sorted(key));
}

function isMapping(value: PlainValue): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function dotted(path: ReadonlyArray<string | number>): string {
  return path.map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`)).join('');
}
