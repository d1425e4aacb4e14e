import { z } from 'zod';
import { normaliseVirtualPath } from '../../sandbox';
import { success } from '../outcomes';
import type { Tool } from '../tool';
import { absolutePath, description } from './arguments';
import { QUICK_TIMEOUT_MS, searchLimit } from './limits';

const schema = z.object({
  description,
  pattern: z.string().describe('Regular expression, or plain text with literal.'),
  path: absolutePath('directory or file to search'),
  glob: z.string().nullable().default(null).describe('Search only files whose path matches this glob.'),
  literal: z.boolean().default(false).describe('Take the pattern as plain text.'),
  case_sensitive: z.boolean().default(false).describe('Tell upper from lower case.'),
  max_results: z.int().default(100).describe('Most lines to return.'),
});

export const grepTool: Tool<typeof schema> = {
  name: 'grep',
  description:
    'Finds lines in text files, below a directory or in one file. Binary and very large files are passed over.',
  schema,
  effect: 'none',
  pace: 'quick',
  timeoutMs: () => QUICK_TIMEOUT_MS,
  async execute({ pattern, path, glob, literal, case_sensitive: caseSensitive, max_results: requested }, context) {
    const maxResults = searchLimit('grep', requested, context.config);
    const sandbox = await context.sandbox();
    const options = { glob: glob === '' ? null : glob, literal, caseSensitive, maxResults, signal: context.signal };
    const found = await sandbox.grep(path, pattern, options);
    const root = normaliseVirtualPath(path);
    if (found.matches.length === 0) return success(`No matches found under ${root}`);
    const shown = found.matches.length;
    const lines = [
      `Found ${shown} matches under ${root}${found.truncated ? ` (showing first ${shown})` : ''}`,
      ...found.matches.map((match) => `${match.path}:${match.lineNumber}: ${match.line}`),
    ];
    if (found.truncated) lines.push('There are more: narrow the path or the pattern, or set glob, to see them.');
    return success(lines.join('\n'));
  },
};
