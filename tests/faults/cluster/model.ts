/** Starts the scripted model: as a process of its own, or, where only sources are there (under jest), in this one. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { JournallingModel } from '../model/journalling-model';
import { startJournallingModel } from '../model/journalling-model';

export interface RunningModel extends JournallingModel {
  /** 0 where it is no process of its own. */
  pid: number;
}

const SCRIPT = join(__dirname, '..', 'model', 'model-process.js');
const START_LIMIT_MS = 20_000;

export async function startModel(journal: string): Promise<RunningModel> {
  if (!existsSync(SCRIPT)) return { ...(await startJournallingModel(journal)), pid: 0 };
  const child = fork(SCRIPT, [journal], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], execArgv: [] });
  const [message] = (await once(child, 'message', { signal: AbortSignal.timeout(START_LIMIT_MS) })) as [
    { port: number },
  ];
  return {
    port: message.port,
    pid: child.pid ?? 0,
    async close() {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    },
  };
}
