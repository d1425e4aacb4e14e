import { z } from 'zod';
import { failure } from '../outcomes';
import type { Tool, ToolOutcome } from '../tool';
import { absolutePath, description } from './arguments';
import { applyEdit, planEdit, type FileEdit } from './file-edit';
import { QUICK_TIMEOUT_MS } from './limits';

const schema = z.object({
  description,
  path: absolutePath('file to write'),
  content: z.string().describe('Text to write.'),
  append: z.boolean().default(false).describe('Add to the end of the file instead of replacing it.'),
});

export interface WriteFileOptions {
  /** Largest content of one call in bytes, asked for at each call; null for none. Appending is not limited. */
  limitBytes: () => number | null;
}

export function createWriteFileTool({ limitBytes }: WriteFileOptions): Tool<typeof schema> {
  return {
    name: 'write_file',
    description:
      'Writes a text file, in parts with append where it is long. A file that exists must have been read before.',
    schema,
    effect: 'file-write',
    pace: 'quick',
    timeoutMs: () => QUICK_TIMEOUT_MS,
    planWrite: async (args, context) => (sizeProblem(args, limitBytes()) ? null : planEdit(editOf(args), context)),
    execute: async (args, context) => sizeProblem(args, limitBytes()) ?? applyEdit(editOf(args), context),
  };
}

function editOf({ path, content, append }: z.output<typeof schema>): FileEdit {
  return { path, change: () => ({ text: content, append, answer: 'OK' }) };
}

function sizeProblem({ content, append }: z.output<typeof schema>, limit: number | null): ToolOutcome | null {
  const size = Buffer.byteLength(content);
  if (append || limit === null || size <= limit) return null;
  return failure(
    `The content has ${size} bytes, more than the ${limit} that one call may write. Split it: write the first part ` +
      'and add the others with append=true, or write a short file first and fill it in with str_replace.',
  );
}
