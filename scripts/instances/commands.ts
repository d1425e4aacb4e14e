/** The commands. Each gives back the exit code. */
import { spawn } from 'node:child_process';
import { homePaths } from '../../workers/stack/home';
import type { Progress } from '../../workers/stack/progress';
import { listenForStop } from '../../workers/stack/stop-signals';
import { AppError } from '../../contracts';
import { runChecks } from './checks';
import { createControl } from './control';
import { endKeeper, startKeeper } from './keeper';
import type { Command, InstancesOptions } from './options';
import type { PartStatus } from './part';
import { INSTANCES, type InstancesSettings } from './settings';
import { logNames, requireRunning, type RunningInstances } from './state-folder';

export interface CommandContext {
  settings: InstancesSettings;
  options: Omit<InstancesOptions, 'command'>;
  progress: Progress;
}

const LOG_LINES = 100;

export async function runInstances(command: Command, context: CommandContext): Promise<number> {
  switch (command) {
    case 'up':
      return up(context);
    case 'check':
      return check(context);
    case 'stop':
    case 'start':
      return change(command, context);
    case 'status':
      return status(context);
    case 'logs':
      return logs(context);
    case 'down':
      return down(context);
  }
}

async function up({ settings, progress }: CommandContext): Promise<number> {
  const stops = listenForStop();
  try {
    const { urls, temporalUiUrl } = await startKeeper(settings, { progress, signal: stops.first });
    progress.step(`Ready: front ${urls.front} · a ${urls.a} · b ${urls.b} · Temporal UI ${temporalUiUrl}`);
    progress.step('Next:  npm run instances -- check');
    return 0;
  } catch (error) {
    if (!stops.first.aborted) throw error;
    progress.step('Stopped.');
    return 1;
  } finally {
    stops.close();
  }
}

async function check({ settings, options, progress }: CommandContext): Promise<number> {
  const running = requireRunning(settings.folder);
  const passed = await runChecks(running, { only: options.only, say: (line) => progress.step(line) });
  return passed ? 0 : 1;
}

async function change(verb: 'start' | 'stop', { settings, options, progress }: CommandContext): Promise<number> {
  const running = requireRunning(settings.folder);
  const control = createControl(running.control);
  const name = options.name ?? '';
  const parts = verb === 'start' ? await control.start(name) : await control.stop(name, options);
  for (const part of parts.filter((candidate) => candidate.name === name)) progress.step(lineOf(part, running));
  return 0;
}

async function status({ settings, progress }: CommandContext): Promise<number> {
  const running = requireRunning(settings.folder);
  const parts = await createControl(running.control).status();
  progress.step(`${'front'.padEnd(10)} ${running.urls.front}`);
  parts.forEach((part) => progress.step(lineOf(part, running)));
  progress.step(`${'temporal'.padEnd(10)} ${running.temporalUiUrl}`);
  return 0;
}

function lineOf({ name, wanted, pid }: PartStatus, { urls }: RunningInstances): string {
  const instance = INSTANCES.find((candidate) => candidate === name);
  const state = pid !== null ? `runs (process ${pid})` : wanted === 'running' ? 'is being started again' : 'is stopped';
  return `${name.padEnd(10)} ${state}${instance === undefined ? '' : ` ${urls[instance]}`}`;
}

async function logs({ settings, options }: CommandContext): Promise<number> {
  const known = logNames(settings.folder);
  if (known.length === 0) throw new AppError('conflict', 'There are no logs yet.');
  if (options.name !== null && !known.includes(options.name)) {
    throw new AppError('bad_request', `There is no log of ${options.name}: choose one of ${known.join(', ')}.`);
  }
  const files = (options.name === null ? known : [options.name]).map((name) => homePaths(settings.folder).log(name));
  const tail = spawn('tail', ['-n', String(LOG_LINES), ...(options.follow ? ['-f'] : []), ...files], {
    stdio: 'inherit',
  });
  return new Promise((resolve, reject) => {
    tail.once('error', reject);
    tail.once('exit', (code) => resolve(code ?? 0));
  });
}

async function down({ settings, progress }: CommandContext): Promise<number> {
  const found = await endKeeper(settings.folder, progress);
  progress.step(found ? `Everything is stopped and deleted, but for the logs in ${settings.folder}.` : 'Nothing runs.');
  return 0;
}
