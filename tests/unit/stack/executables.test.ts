import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runToEnd } from '../../../workers/stack/executables';

const folder = mkdtempSync(join(tmpdir(), 'deer-flow-executables-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const isRunning = (pid: number) => {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.trim() !== '' && !stdout.startsWith('Z');
};

async function untilWritten(path: string): Promise<number> {
  while (!existsSync(path) || readFileSync(path, 'utf8') === '') await new Promise((go) => setTimeout(go, 5));
  return Number(readFileSync(path, 'utf8'));
}

test('a program that is called off is gone, with all that it started, when the caller hears of it', async () => {
  const child = join(folder, 'child');
  const stop = new AbortController();
  const running = runToEnd('/bin/sh', ['-c', `sleep 60 & echo $! > ${child}; wait`], {
    timeoutMs: 30_000,
    signal: stop.signal,
  });
  const pid = await untilWritten(child);
  expect(isRunning(pid)).toBe(true);
  stop.abort();
  expect(await running).toEqual({ succeeded: false, stdout: '', complaint: 'It was called off.' });
  expect(isRunning(pid)).toBe(false);
});

test('a program that takes too long is ended and named as such', async () => {
  const result = await runToEnd('/bin/sh', ['-c', 'echo begun; sleep 60'], { timeoutMs: 200 });
  expect(result).toEqual({ succeeded: false, stdout: 'begun\n', complaint: 'It took longer than 200 ms.' });
});

test('a program that is called off before it starts never starts', async () => {
  const trace = join(folder, 'trace');
  const result = await runToEnd('/bin/sh', ['-c', `touch ${trace}`], { timeoutMs: 5_000, signal: AbortSignal.abort() });
  expect(result.succeeded).toBe(false);
  expect(existsSync(trace)).toBe(false);
});

test('a caller hears what a failing program said last, how it ended, or why it did not start', async () => {
  const options = { timeoutMs: 5_000 };
  expect((await runToEnd('/bin/sh', ['-c', 'echo no space >&2; exit 3'], options)).complaint).toBe('no space');
  expect((await runToEnd('/bin/sh', ['-c', 'exit 3'], options)).complaint).toBe('It ended with exit code 3.');
  expect((await runToEnd(join(folder, 'missing'), [], options)).complaint).toMatch(/ENOENT/);
  expect(await runToEnd('/bin/sh', ['-c', 'echo fine'], options)).toMatchObject({ succeeded: true, stdout: 'fine\n' });
});
