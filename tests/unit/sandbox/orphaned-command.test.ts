import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findInstallation } from '../../../workers/stack/project-root';

const folder = mkdtempSync(join(tmpdir(), 'deer-flow-orphan-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A process of its own that runs one command and never comes to its end. */
const RUNNER = `
  const { createProcessRunner } = require(process.argv[1]);
  createProcessRunner().run({
    shell: '/bin/sh', command: process.argv[2], directory: process.argv[3], environment: { PATH: process.env.PATH },
    timeoutMs: 60_000, signal: new AbortController().signal,
  });
`;

function running(mark: string): number {
  const { stdout } = spawnSync('ps', ['-eo', 'stat=,args='], { encoding: 'utf8' });
  return stdout.split('\n').filter((line) => line.includes(`sleep ${mark}`) && !line.startsWith('Z')).length;
}

async function until(condition: () => boolean): Promise<void> {
  for (const deadline = Date.now() + 5_000; !condition() && Date.now() < deadline;) {
    await new Promise((go) => setTimeout(go, 20));
  }
}

test('a command and what it started end with a worker that is killed outright', async () => {
  const module = join(findInstallation(), 'dist', 'sandbox', 'local', 'process-runner.js');
  const mark = `61.${process.pid}`;
  const worker = spawn(process.execPath, ['-e', RUNNER, module, `sleep ${mark} & sleep ${mark}; true`, folder]);
  await until(() => running(mark) >= 2);
  expect(running(mark)).toBeGreaterThanOrEqual(2);
  worker.kill('SIGKILL');
  await once(worker, 'exit');
  await until(() => running(mark) === 0);
  expect(running(mark)).toBe(0);
});
