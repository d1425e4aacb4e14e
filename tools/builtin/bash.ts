import { z } from 'zod';
import { auditCommand, auditLogCommand } from '../../sandbox';
import { success } from '../outcomes';
import { cutMiddle } from '../text-limits';
import type { Tool, ToolLog } from '../tool';
import { description } from './arguments';

/** The command has its own time-out; the call as a whole may take a little longer to report it. */
const REPORTING_MS = 15_000;

const schema = z.object({ description, command: z.string().describe('Command for the shell. Use absolute paths.') });

export function createBashTool({ log }: { log: ToolLog }): Tool<typeof schema> {
  return {
    name: 'bash',
    description:
      'Runs a shell command in /mnt/user-data/workspace and returns its output. Start servers in the background with their output in a file.',
    schema,
    effect: 'unknown',
    pace: 'slow',
    timeoutMs: (config) => config.sandbox.bash_command_timeout * 1_000 + REPORTING_MS,
    async execute({ command }, context) {
      const audit = auditCommand(command);
      log.info(
        {
          timestamp: new Date().toISOString(),
          thread_id: context.threadId,
          command: auditLogCommand(command, audit),
          verdict: audit.verdict,
        },
        'bash command',
      );
      if (audit.verdict === 'block') {
        return { content: `Command blocked: ${audit.reason}. Reach the goal in another, safe way.`, status: 'error' };
      }
      const sandbox = await context.sandbox();
      const { bash_command_timeout: seconds, bash_output_max_chars: limit } = context.config.sandbox;
      const output = await sandbox.executeCommand(command, { timeoutMs: seconds * 1_000, signal: context.signal });
      const warning =
        audit.verdict === 'warn'
          ? `\n\n[Warning: \`${audit.warning}\` may change the environment beyond this task. It was run; be careful.]`
          : '';
      return success(cutMiddle(output, limit) + warning);
    },
  };
}
