/** `npm start`: the whole stack in one command, until Ctrl-C. */
import { loadConfig, requireDeployable } from '../../config';
import { runCommand } from './command';
import { START_HELP } from './help';
import { parseStackOptions, type StackOptions } from './options';
import { createProgress } from './progress';
import { startStack, type EntryPoints, type RunningStack } from './stack';
import { listenForStop } from './stop-signals';

/** Runs the command to its end. Other entry points than those of the build are for tests. */
export async function runStart(entryPoints?: EntryPoints): Promise<void> {
  const options = parseStackOptions({ argv: process.argv.slice(2), env: process.env, cwd: process.cwd() });
  if (options.help) {
    process.stdout.write(START_HELP);
    return;
  }
  // A mistake in the configuration is one line here, and a process that dies again and again later.
  requireDeployable(loadConfig({ env: options.env, cwd: process.cwd() }).config, options.env);
  const progress = createProgress(process.stdout);
  const stops = listenForStop();
  let stack: RunningStack | undefined;
  try {
    stack = await startStack({ options, progress, signal: stops.first, entryPoints });
  } catch (error) {
    if (!stops.first.aborted) throw error;
    progress.step('Stopped.');
    return;
  }
  announce(stack, options, (line) => progress.step(line));
  await stops.untilFirst();
  progress.step('Stopping: what is at work may come to a rest (Ctrl-C again stops at once)...');
  stops.second.addEventListener('abort', () => void stack.stop('now'), { once: true });
  await stack.stop(stops.second.aborted ? 'now' : 'drain');
  progress.step('Stopped.');
}

function announce({ addresses }: RunningStack, options: StackOptions, say: (line: string) => void): void {
  const { apiUrl, temporalUiUrl } = addresses;
  const docs = options.environment.gateway.docsEnabled ? ` · docs ${apiUrl}/docs` : '';
  const ui = temporalUiUrl === undefined ? '' : ` · Temporal UI ${temporalUiUrl}`;
  say(`Ready: API ${apiUrl}${docs}${ui}`);
  const body = JSON.stringify({ input: { messages: [{ role: 'user', content: 'Hello!' }] } });
  say(`Try:   curl -N ${apiUrl}/api/runs/stream -H 'Content-Type: application/json' -d '${body}'`);
  say('       npm run ask -- "Hello!"');
}

if (require.main === module) runCommand(() => runStart());
