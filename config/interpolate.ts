/** Replaces values such as `$OPENAI_API_KEY` by the environment variable of that name. */
import { configError, dottedKey } from './config-error';
import type { ConfigSource } from './config-error';
import type { EnvironmentVariables } from './environment-variables';
import type { PlainValue } from './parse-yaml';

/** Only a whole value is a reference: `a-$X`, `${X}` and `$5 a day` stay as they are. */
const REFERENCE = /^\$([A-Za-z_][A-Za-z0-9_]*)$/;

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
