/** `npm run ask -- "question"`: a question to a running stack, or to one started for it. */
import { runCommand } from '../workers/stack/command';
import { createProgress } from '../workers/stack/progress';
import type { EntryPoints } from '../workers/stack/stack';
import { listenForStop } from '../workers/stack/stop-signals';
import { createConsole } from './ask/console';
import { converse, EXIT_CODES } from './ask/conversation';
import { ASK_HELP, parseAskOptions } from './ask/options';
import { openTarget } from './ask/target';

/** Runs the command to its end. Other entry points than those of the build are for tests. */
export async function runAsk(entryPoints?: EntryPoints): Promise<void> {
  const options = parseAskOptions(process.argv.slice(2), process.cwd());
  if (options.help) {
    process.stdout.write(ASK_HELP);
    return;
  }
  const stops = listenForStop();
  const progress = createProgress(process.stderr);
  try {
    const context = { env: process.env, cwd: process.cwd(), progress, signal: stops.first, entryPoints };
    const target = await openTarget(options, context);
    try {
      process.exitCode = await converse(options, {
        gateway: target.gateway,
        console: createConsole(process.stdout, process.stderr),
        ask: (text) => void process.stderr.write(text),
        input: process.stdin,
        stops,
      });
    } finally {
      if (target.temporary) {
        progress.step('Stopping the stack; a run that is not finished goes on with the next one on this home.');
      }
      await target.close();
    }
  } catch (error) {
    if (!stops.first.aborted) throw error;
    process.exitCode = EXIT_CODES.stopped;
  }
}

if (require.main === module) runCommand(() => runAsk());
