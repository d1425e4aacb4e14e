import { AppError } from '../contracts';

/** One line that names the file, the key and what was expected there: it is all that an operator gets to see. */
export function configError(file: string, key: string, problem: string, detail?: unknown): AppError {
  const place = key === '' ? file : `${file}: ${key}`;
  return new AppError('configuration', `${place}: ${problem}`.replace(/\s+/g, ' '), { detail });
}

/** `['models', 0, 'use']` becomes `models[0].use`. */
export function dottedKey(path: ReadonlyArray<PropertyKey>): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? String(part) : `${text}.${String(part)}`;
  }, '');
}
