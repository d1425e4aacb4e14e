import { z } from 'zod';
import { normaliseVirtualPath } from '../../sandbox';
import { success } from '../outcomes';
import type { Tool } from '../tool';
import { absolutePath, description } from './arguments';
import { QUICK_TIMEOUT_MS, searchLimit } from './limits';

const schema = z.object({
  description,
  pattern: z.string().describe('Glob, as `**/*.py`.'),
  path: absolutePath('directory to search'),
  include_dirs: z.boolean().default(false).describe('Return matching directories too.'),
  max_results: z.int().default(200).describe('Most paths to return.'),
});

export const globTool: Tool<typeof schema> = {
  name: 'glob',
  description: 'Finds files by a glob pattern, below a directory.',
  schema,
  effect: 'none',
  pace: 'quick',
  timeoutMs: () => QUICK_TIMEOUT_MS,
  async execute({ pattern, path, include_dirs: includeDirectories, max_results: requested }, context) {
    const maxResults = searchLimit('glob', requested, context.config);
    const sandbox = await context.sandbox();
    const found = await sandbox.glob(path, pattern, { includeDirectories, maxResults, signal: context.signal });
    const root = normaliseVirtualPath(path);
    if (found.paths.length === 0) return success(`No files matched under ${root}`);
    const lines = [
      `Found ${found.paths.length} paths under ${root}${found.truncated ? ` (showing first ${found.paths.length})` : ''}`,
      ...found.paths.map((match, index) => `${index + 1}. ${match}`),
    ];
    if (found.truncated) lines.push('There are more: narrow the path or the pattern to see them.');
    return success(lines.join('\n'));
  },
};
