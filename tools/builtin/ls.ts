import { z } from 'zod';
import { LIST_DIRECTORY_LIMIT } from '../../sandbox';
import { success } from '../outcomes';
import { cutTail } from '../text-limits';
import type { Tool } from '../tool';
import { absolutePath, description } from './arguments';
import { QUICK_TIMEOUT_MS } from './limits';

const DEPTH = 2;
const schema = z.object({ description, path: absolutePath('directory to list') });

export const lsTool: Tool<typeof schema> = {
  name: 'ls',
  description: 'Lists a directory as a tree of two levels. Directories end with a slash.',
  schema,
  effect: 'none',
  pace: 'quick',
  timeoutMs: () => QUICK_TIMEOUT_MS,
  async execute({ path }, context) {
    const sandbox = await context.sandbox();
    const paths = await sandbox.listDirectory(path, DEPTH, { signal: context.signal });
    if (paths.length === 0) return success('(empty)');
    const note = paths.length < LIST_DIRECTORY_LIMIT ? '' : `\n(only the first ${LIST_DIRECTORY_LIMIT} entries)`;
    const limit = context.config.sandbox.ls_output_max_chars;
    return success(
      cutTail(paths.join('\n') + note, limit, 'List a subdirectory, or use glob with a narrower pattern.'),
    );
  },
};
