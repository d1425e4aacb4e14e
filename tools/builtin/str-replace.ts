import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { failure, success } from '../outcomes';
import type { Tool } from '../tool';
import { absolutePath, description } from './arguments';
import { applyEdit, planEdit, type FileEdit } from './file-edit';
import { QUICK_TIMEOUT_MS } from './limits';

const schema = z.object({
  description,
  path: absolutePath('file to change'),
  old_str: z.string().describe('Text to replace, exactly as it stands in the file.'),
  new_str: z.string().describe('Text to put in its place.'),
  replace_all: z.boolean().default(false).describe('Replace every occurrence instead of the first one.'),
});

export const strReplaceTool: Tool<typeof schema> = {
  name: 'str_replace',
  description:
    'Replaces a text in a file that was read before. Give enough of the surroundings to make the text unique, or set replace_all.',
  schema,
  effect: 'file-write',
  pace: 'quick',
  timeoutMs: () => QUICK_TIMEOUT_MS,
  planWrite: async (args, context) => (args.old_str === '' ? null : planEdit(editOf(args), context)),
  execute: async (args, context) => (args.old_str === '' ? success('OK') : applyEdit(editOf(args), context)),
};

function editOf({ path, old_str: old, new_str: replacement, replace_all: all }: z.output<typeof schema>): FileEdit {
  return {
    path,
    change(current) {
      if (current === null) return failure(`File not found: ${path}`);
      if (!isUtf8(current)) return failure(`${path} is not UTF-8 text; it cannot be edited with str_replace.`);
      const text = current.toString('utf8');
      const parts = text.split(old);
      const count = parts.length - 1;
      if (count === 0) return failure(`String to replace not found in file: ${path}`);
      if (all) return { text: parts.join(replacement), append: false, answer: 'OK' };
      const [head = '', ...rest] = parts;
      const answer = count === 1 ? 'OK' : `OK (replaced the first of ${count} occurrences)`;
      return { text: head + replacement + rest.join(old), append: false, answer };
    },
  };
}
