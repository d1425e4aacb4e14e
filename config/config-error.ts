import { AppError } from '../contracts';

/** A file as error texts speak of it. */
export interface ConfigSource {
  /** Its name without the folder. */
  name: string;
  /** The line of a value, from 1; null where that cannot be told. */
  lineOf: (path: ReadonlyArray<PropertyKey>) => number | null;
}

export function unnumbered(name: string): ConfigSource {
  return { name, lineOf: () => null };
}

/** One line that names the file, the line, the key and what was expected there: it is all that an operator gets to see. */
export function configError(
  source: ConfigSource | string,
  path: ReadonlyArray<PropertyKey>,
  problem: string,
  detail?: unknown,
): AppError {
  const { name, lineOf } = typeof source === 'string' ? unnumbered(source) : source;
  const line = lineOf(path);
  const key = dottedKey(path);
  const place = [line === null ? name : `${name}:${line}`, ...(key === '' ? [] : [key])].join(': ');
  return new AppError('configuration', `${place}: ${problem}`.replace(/\s+/g, ' '), { detail });
}

/** `['models', 0, 'use']` becomes `models[0].use`. */
export function dottedKey(path: ReadonlyArray<PropertyKey>): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? String(part) : `${text}.${String(part)}`;
  }, '');
}
