import { readFile, readdir, readlink } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { LivingProcess } from '../evidence';

/**
 * Processes that work in a thread's folders (tools) or were given this home folder (parts of the product), except for
 * the known ones.
 */
export async function collectStrayProcesses(home: string, known: readonly number[]): Promise<LivingProcess[]> {
  const entries = await readdir('/proc').catch(() => []);
  const pids = entries.map(Number).filter((pid) => pid > 0 && pid !== process.pid && !known.includes(pid));
  const found = await Promise.all(pids.map((pid) => strayProcess(pid, home)));
  return found.filter((one) => one !== null);
}

/** Null where it is another's, or gone meanwhile. */
async function strayProcess(pid: number, home: string): Promise<LivingProcess | null> {
  const [directory, environment, command] = await Promise.all([
    readlink(join('/proc', String(pid), 'cwd')).catch(() => ''),
    readFile(join('/proc', String(pid), 'environ'), 'utf8').catch(() => ''),
    readFile(join('/proc', String(pid), 'cmdline'), 'utf8').catch(() => ''),
  ]);
  const isTool = directory.startsWith(join(home, 'users') + sep);
  const isPart = environment.split('\0').includes(`DEER_FLOW_HOME=${home}`);
  // What is dead and only waits for its parent has no command.
  if (command === '' || (!isTool && !isPart)) return null;
  return { pid, command: command.split('\0').join(' ').trim() };
}
