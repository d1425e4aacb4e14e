/**
 * The process that keeps the instances running after `up` has returned. It tells `up` what it does until it is done
 * with the start, and ends, with everything, on SIGTERM.
 */
import { isAppError } from '../../contracts';
import { runCommand } from '../../workers/stack/command';
import { listenForStop } from '../../workers/stack/stop-signals';
import { startCluster } from './cluster';
import type { KeeperMessage } from './keeper';
import { readSettings } from './settings';

async function main(): Promise<void> {
  const stops = listenForStop();
  const abandoned = new AbortController();
  const onDisconnect = () => abandoned.abort();
  process.once('disconnect', onDisconnect);
  try {
    const cluster = await startCluster({
      settings: readSettings({ env: process.env, cwd: process.cwd() }),
      progress: { step: say, warn: (text) => say(`! ${text}`) },
      signal: AbortSignal.any([stops.first, abandoned.signal]),
    });
    process.off('disconnect', onDisconnect);
    await tell({ type: 'ready', running: cluster.running });
    await stops.untilFirst();
    say('Taking everything down...');
    await cluster.takeDown();
  } catch (error) {
    await tell({ type: 'failed', reason: reasonOf(error) });
    throw error;
  }
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
  void tell({ type: 'progress', text });
}

/** Resolves when it is on its way; nobody may be there to hear it. */
function tell(message: KeeperMessage): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected && process.send) process.send(message, undefined, undefined, () => resolve());
    else resolve();
  });
}

function reasonOf(error: unknown): string {
  if (isAppError(error)) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

runCommand(main);
