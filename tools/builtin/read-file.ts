import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isAppError } from '../../contracts';
import { normaliseVirtualPath } from '../../sandbox';
import { failure, success } from '../outcomes';
import { cutTail } from '../text-limits';
import type { Tool } from '../tool';
import { absolutePath, description } from './arguments';
import { QUICK_TIMEOUT_MS } from './limits';

const line = (what: string) => z.int().nullable().default(null).describe(`${what} line, counted from 1 and included.`);
const schema = z.object({
  description,
  path: absolutePath('file to read'),
  start_line: line('First'),
  end_line: line('Last'),
});

export const readFileTool: Tool<typeof schema> = {
  name: 'read_file',
  description: 'Reads a text file, whole or a range of lines. A file must have been read before it may be changed.',
  schema,
  effect: 'none',
  pace: 'quick',
  timeoutMs: () => QUICK_TIMEOUT_MS,
  async execute({ path, start_line: start, end_line: end }, context) {
    const problem = rangeProblem(start, end);
    if (problem !== null) return success(problem);
    let text: string;
    try {
      text = await (await context.sandbox()).readFile(path, { signal: context.signal });
    } catch (error) {
      if (isAppError(error, 'unsupported_media')) return failure(binaryText(path, context.toolNames));
      throw error;
    }
    const hash = createHash('sha256').update(text).digest('hex');
    const limit = context.config.sandbox.read_file_output_max_chars;
    return success(
      cutTail(selectLines(text, start, end), limit, 'Use start_line and end_line to read a smaller range.'),
      {
        additionalKwargs: { deerflow_read_mark: { path: normaliseVirtualPath(path), hash } },
      },
    );
  },
};

function rangeProblem(start: number | null, end: number | null): string | null {
  if (start !== null && start < 1) return '(start_line must be >= 1)';
  if (end !== null && end < 1) return '(end_line must be >= 1)';
  if (start !== null && end !== null && start > end) return '(start_line > end_line — no lines in range)';
  return null;
}

function selectLines(text: string, start: number | null, end: number | null): string {
  if (text === '') return start !== null && start > 1 ? '(start_line exceeds file length)' : '(empty)';
  if (start === null && end === null) return text;
  const lines = text.split('\n');
  // What follows the last line feed is no line of its own.
  if (lines.at(-1) === '') lines.pop();
  const selected = lines.slice((start ?? 1) - 1, end ?? undefined);
  if (selected.length === 0) return '(start_line exceeds file length)';
  return selected.join('\n') || '(empty)';
}

function binaryText(path: string, toolNames: readonly string[]): string {
  const bash = toolNames.includes('bash') ? ' Use bash with a fitting program for other binary files.' : '';
  return `${path} is not UTF-8 text but a binary file. Use view_image for images.${bash}`;
}
