/** `npm run instances`: two instances of the product on one machine, and checks across them. */
import { runCommand } from '../workers/stack/command';
import { createProgress } from '../workers/stack/progress';
import { runInstances } from './instances/commands';
import { INSTANCES_HELP, parseInstancesOptions } from './instances/options';
import { readSettings } from './instances/settings';

async function main(): Promise<void> {
  const { command, ...options } = parseInstancesOptions(process.argv.slice(2));
  if (command === null) {
    process.stdout.write(INSTANCES_HELP);
    return;
  }
  const settings = readSettings({ env: process.env, cwd: process.cwd() });
  process.exitCode = await runInstances(command, { settings, options, progress: createProgress(process.stdout) });
}

runCommand(main);
