/** Starting the process that keeps the instances, and ending it. */
import { spawn } from 'node:child_process';
import { closeSync, existsSync } from 'node:fs';
import { AppError } from '../../contracts';
import { homePaths } from '../../workers/stack/home';
import { lockHome, runningStack } from '../../workers/stack/home-lock';
import { openLog } from '../../workers/stack/log-file';
import { endProcess } from '../../workers/stack/process-identity';
import { createProcessRecords } from '../../workers/stack/process-records';
import type { Progress } from '../../workers/stack/progress';
import { builtFile } from '../../workers/stack/project-root';
import { endLeftovers } from '../../workers/stack/start-servers';
import type { InstancesSettings } from './settings';
import { claimFolder, emptyFolder, type RunningInstances } from './state-folder';

export type KeeperMessage =
  | { type: 'progress'; text: string }
  | { type: 'ready'; running: RunningInstances }
  | { type: 'failed'; reason: string };

/** Longer than the drain of the workers and the end of both servers together. */
const END_LIMIT_MS = 60_000;

/**
 * Returns when everything is up. Aborting takes down what was started.
 * @throws AppError with the reason where it does not come up.
 */
export async function startKeeper(
  settings: InstancesSettings,
  { progress, signal }: { progress: Progress; signal: AbortSignal },
): Promise<RunningInstances> {
  // Before there is a log: it would make any folder look like ours.
  claimFolder(settings.folder);
  const log = openLog(homePaths(settings.folder).log('keeper'));
  const child = spawn(process.execPath, ['--enable-source-maps', builtFile('scripts/instances/keeper-process.js')], {
    cwd: settings.cwd,
    env: settings.env,
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
  });
  closeSync(log);
  const onAbort = () => void child.kill('SIGTERM');
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await new Promise<RunningInstances>((resolve, reject) => {
      let reason = `It ended while starting; its log is in ${homePaths(settings.folder).log('keeper')}.`;
      child.on('message', (message: KeeperMessage) => {
        if (message.type === 'progress') progress.step(message.text);
        else if (message.type === 'ready') resolve(message.running);
        else reason = message.reason;
      });
      child.once('error', reject);
      child.once('exit', () => reject(new AppError('unavailable', reason)));
    });
  } finally {
    signal.removeEventListener('abort', onAbort);
    if (child.connected) child.disconnect();
    child.unref();
  }
}

/** Ends everything and empties the folder, also where the keeper was killed. False where there was nothing. */
export async function endKeeper(folder: string, progress: Progress): Promise<boolean> {
  const keeper = runningStack(folder);
  if (keeper !== undefined) {
    await endProcess(keeper, { signal: 'SIGTERM', graceMs: END_LIMIT_MS });
    // It leaves nothing behind unless it had to be killed.
    if (!existsSync(homePaths(folder).records)) return true;
  }
  if (!existsSync(homePaths(folder).records)) return false;
  claimFolder(folder);
  const lock = await lockHome(folder);
  await endLeftovers(createProcessRecords(homePaths(folder).records), progress);
  emptyFolder(folder, () => lock.release());
  return true;
}
