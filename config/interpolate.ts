/** Replaces values such as `$OPENAI_API_KEY` by the environment variable of that name. */
import { configError, dottedKey } from './config-error';
import type { ConfigSource } from './config-error';
import type { EnvironmentVariables } from './environment-variables';
import type { PlainValue } from './parse-yaml';

/** Only a whole value is a reference: `a-$X`, `${X}` and `$5 a day` stay as they are. */
const REFERENCE = /^\$([A-Za-z_][A-Za-z0-9_]*)$/;

/** Name of the variable that a text stands for; null where it is a text of its own. */
export function referencedVariable(text: string): string | null {
  return REFERENCE.exec(text)?.[1] ?? null;
}

/** As shells and other tools write it; DeerFlow knows no such form. */
const BRACED = /^\$\{[^{}]*\}$/;

/** Dotted keys of the values that look like a reference and are taken as they stand. */
export function bracedReferences(value: PlainValue, path: ReadonlyArray<string | number> = []): string[] {
  if (typeof value === 'string') return BRACED.test(value) ? [dottedKey(path)] : [];
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item, index) => bracedReferences(item, [...path, index]));
  return Object.entries(value).flatMap(([key, item]) => bracedReferences(item, [...path, key]));
}

export interface Interpolated {
  value: PlainValue;
  /** Dotted keys whose text came from a variable; such text may stand for a number or a boolean. */
  fromEnvironment: ReadonlySet<string>;
}

export function interpolate(value: PlainValue, env: EnvironmentVariables, source: ConfigSource): Interpolated {
  const fromEnvironment = new Set<string>();
  const walk = (item: PlainValue, path: Array<string | number>): PlainValue => {
    if (Array.isArray(item)) return item.map((entry, index) => walk(entry, [...path, index]));
    if (typeof item === 'object' && item !== null) {
      return Object.fromEntries(Object.entries(item).map(([key, entry]) => [key, walk(entry, [...path, key])]));
    }
    const name = typeof item === 'string' ? REFERENCE.exec(item)?.[1] : undefined;
    if (name === undefined) return item;
    const text = env[name];
    const key = dottedKey(path);
    if (text === undefined) {
      throw configError(source, path, `Environment variable ${name} not found for config value $${name}`);
    }
    fromEnvironment.add(key);
    return text;
  };
  return { value: walk(value, []), fromEnvironment };
}
