import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpuSeconds,
  parseStatus,
  peakResidentBytes,
  processTree,
  residentBytes,
  treeBytes,
} from '../../../bench/processes';

const MEBIBYTE = 2 ** 20;
const BURN = 'const until = process.cpuUsage().user + 300000; while (process.cpuUsage().user < until);';

const started: ChildProcess[] = [];
afterEach(() => started.splice(0).forEach((child) => child.kill('SIGKILL')));

/** A process that runs the code, says a line and then waits. */
async function run(code: string): Promise<number> {
  const program = `${code}; console.log('done'); setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  started.push(child);
  if (child.stdout === null) throw new Error('the output is not piped');
  await once(child.stdout, 'data');
  return child.pid ?? 0;
}

describe('what processes use', () => {
  it('is read past any name of a program', () => {
    const line = `42 (a) b (c) S 7 ${Array.from({ length: 40 }, (_, index) => index + 5).join(' ')}`;
    // User and system time of the process and of its ended children are fields 14 to 17: 100 ticks a second.
    expect(parseStatus(line)).toEqual({ pid: 42, parent: 7, cpuSeconds: (14 + 15 + 16 + 17) / 100 });
  });

  it('counts CPU time of the process itself', async () => {
    const pid = await run(BURN);
    expect(cpuSeconds(pid)).toBeGreaterThanOrEqual(0.29);
    expect(cpuSeconds(pid)).toBeLessThan(5);
  });

  it('counts CPU time of children, of those that ended as well', async () => {
    const spawnChild = `require('node:child_process').spawnSync(process.execPath, ['-e', ${JSON.stringify(BURN)}])`;
    const pid = await run(spawnChild);
    expect(cpuSeconds(pid)).toBeGreaterThanOrEqual(0.29);
    expect(processTree([pid])).toEqual([pid]);
  });

  it('counts the memory of a whole tree, once where it is shared, and remembers the peak', async () => {
    const child = 'const kept = Buffer.alloc(100 * 2 ** 20, 1); setInterval(() => kept, 1000); console.log(1)';
    const pid = await run(
      `const child = require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(child)}],
         { stdio: ['ignore', 'pipe', 'inherit'] });
       process.once('exit', () => child.kill('SIGKILL'));
       require('node:events').once(child.stdout, 'data').then(() => console.log('ready'))`,
    );
    const [, childPid = 0] = await waitFor(() => {
      const pids = processTree([pid]);
      return pids.length === 2 && residentBytes(pids[1] ?? 0) > 100 * MEBIBYTE ? pids : null;
    });
    try {
      // On a machine that is short of memory, pages may be out for a moment.
      const tree = await waitFor(() => {
        const bytes = treeBytes(pid);
        return bytes > 100 * MEBIBYTE ? bytes : null;
      });
      expect(tree).toBeLessThanOrEqual(residentBytes(pid) + residentBytes(childPid));
      const resident = residentBytes(childPid);
      expect(peakResidentBytes(childPid)).toBeGreaterThanOrEqual(resident);
    } finally {
      process.kill(childPid, 'SIGKILL');
    }
  });

  it('is nothing for a process that is gone', () => {
    expect(cpuSeconds(2 ** 22 + 1)).toBe(0);
    expect(treeBytes(2 ** 22 + 1)).toBe(0);
  });
});

async function waitFor<T>(look: () => T | null): Promise<T> {
  const deadline = Date.now() + 10_000;
  for (;;) {
    const found = look();
    if (found !== null) return found;
    if (Date.now() > deadline) throw new Error('it did not happen in time');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
