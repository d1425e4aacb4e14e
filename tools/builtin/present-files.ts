import { z } from 'zod';
import { isAppError } from '../../contracts';
import { OUTPUTS_ROOT, isWithin, normaliseVirtualPath, type Sandbox } from '../../sandbox';
import { failure, success } from '../outcomes';
import type { Tool } from '../tool';
import { QUICK_TIMEOUT_MS } from './limits';

const schema = z.object({
  filepaths: z.array(z.string()).describe(`Absolute paths below ${OUTPUTS_ROOT}.`),
});

export const presentFilesTool: Tool<typeof schema> = {
  name: 'present_files',
  description: `Shows finished files to the user. Only what lies in ${OUTPUTS_ROOT} can be shown; call this after writing it.`,
  schema,
  effect: 'none',
  pace: 'quick',
  timeoutMs: () => QUICK_TIMEOUT_MS,
  async execute({ filepaths }, context) {
    const sandbox = await context.sandbox();
    for (const path of filepaths) {
      if (!(await isPresentable(sandbox, path, context.signal))) {
        return failure(`Only files in ${OUTPUTS_ROOT} can be presented: ${path}`);
      }
    }
    return success('Successfully presented files', { presented: [...new Set(filepaths.map(normaliseVirtualPath))] });
  },
};

/** Both the path and, where links lead elsewhere, the file itself must lie in the outputs. */
async function isPresentable(sandbox: Sandbox, path: string, signal: AbortSignal): Promise<boolean> {
  if (!isWithin(normaliseVirtualPath(path), OUTPUTS_ROOT)) return false;
  try {
    const real = await sandbox.resolvePath(path, { signal });
    return real === null || isWithin(real, OUTPUTS_ROOT);
  } catch (error) {
    if (isAppError(error, 'forbidden')) return false;
    throw error;
  }
}
