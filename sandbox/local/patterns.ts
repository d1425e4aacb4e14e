/** Patterns as models write them: globs matched from the right, and regular expressions in Python's dialect. */
import picomatch from 'picomatch';
import { AppError } from '../../contracts';

const LONGEST_PATTERN = 1_000;

/** Matches a path relative to the root of a search. `*.ts` matches at every depth, `/*.ts` only at the root. */
export function createGlobMatcher(pattern: string): (relative: string) => boolean {
  if (pattern.trim() === '') throw new AppError('bad_request', 'The glob pattern is empty');
  if (pattern.length > LONGEST_PATTERN) throw new AppError('bad_request', 'The glob pattern is too long');
  const anchored = pattern.startsWith('/') ? pattern.slice(1) : pattern.startsWith('**/') ? pattern : `**/${pattern}`;
  const matches = picomatch(anchored, { dot: true, nonegate: true, noextglob: true, strictSlashes: false });
  return (relative) => matches(relative);
}

export function createLineMatcher(
  pattern: string,
  options: { literal: boolean; caseSensitive: boolean },
): (line: string) => boolean {
  if (pattern.length > LONGEST_PATTERN) throw new AppError('bad_request', 'The pattern is too long');
  const inline = options.literal ? null : /^\(\?([aiLmsux]+)\)/.exec(pattern);
  const source = options.literal
    ? pattern.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    : fromPython(pattern, inline?.[0].length);
  const insensitive = !options.caseSensitive || (inline?.[1] ?? '').includes('i');
  const dotAll = (inline?.[1] ?? '').includes('s');
  try {
    const expression = new RegExp(source, `${insensitive ? 'i' : ''}${dotAll ? 's' : ''}`);
    return (line) => expression.test(line);
  } catch (error) {
    const reason = error instanceof Error ? error.message.slice(0, 300) : 'not a regular expression';
    throw new AppError('bad_request', `Invalid regex pattern: ${reason}`, { cause: error });
  }
}

function fromPython(pattern: string, skip = 0): string {
  return pattern
    .slice(skip)
    .replaceAll('(?P<', '(?<')
    .replace(/\(\?P=(\w+)\)/g, '\\k<$1>')
    .replace(/(?<!\\)((?:\\\\)*)\\A/g, '$1^')
    .replace(/(?<!\\)((?:\\\\)*)\\Z/g, '$1$$');
}
