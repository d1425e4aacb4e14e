/** Finding programs on PATH and running them to their end. */
import { spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Readable } from 'node:stream';

export function findOnPath(name: string, path: string | undefined): string | undefined {
  const folders = (path ?? '').split(delimiter).filter(Boolean);
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

export interface RunOptions {
  timeoutMs: number;
  signal?: AbortSignal;
  env?: NodeJS.ProcessEnv;
  uid?: number;
  gid?: number;
  cwd?: string;
}

export interface RunResult {
  /** False where it could not start, failed, or took too long. */
  succeeded: boolean;
  stdout: string;
  /** The last lines it wrote to stderr, or why it did not run. */
  complaint: string;
}

const KEPT_OUTPUT = 16 * 1024 * 1024;

/**
 * Runs a program until it and all that it started are gone, also where it is given up on: a caller may then remove the
 * files that it worked on. The program leads a process group of its own, so that its children are ended with it.
 */
export function runToEnd(command: string, args: readonly string[], options: RunOptions): Promise<RunResult> {
  const { timeoutMs, signal, ...settings } = options;
  if (signal?.aborted) return Promise.resolve({ succeeded: false, stdout: '', complaint: 'It was called off.' });
  return new Promise((resolve) => {
    const child = spawn(command, [...args], { ...settings, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    const stdout = collect(child.stdout);
    const stderr = collect(child.stderr);
    let reason: string | undefined;
    const giveUp = (why: string) => {
      reason ??= why;
      endGroup(child.pid);
    };
    const onAbort = () => giveUp('It was called off.');
    const timer = setTimeout(() => giveUp(`It took longer than ${timeoutMs} ms.`), timeoutMs);
    signal?.addEventListener('abort', onAbort, { once: true });
    child.once('error', (error) => (reason ??= error.message));
    // `close` comes when every process that holds the pipes is gone, and also after a failure to start.
    child.once('close', (code, killedBy) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      const lines = stderr().trim().split('\n').slice(-3).join('\n');
      const ending = `It ended with ${killedBy === null ? `exit code ${code}` : killedBy}.`;
      resolve({
        succeeded: code === 0 && reason === undefined,
        stdout: stdout(),
        complaint: lines || (reason ?? ending),
      });
    });
  });
}

function collect(stream: Readable): () => string {
  const chunks: Buffer[] = [];
  let kept = 0;
  stream.on('data', (chunk: Buffer) => {
    if (kept < KEPT_OUTPUT) chunks.push(chunk);
    kept += chunk.length;
  });
  return () => Buffer.concat(chunks).toString('utf8');
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It ended by itself in the meantime.
  }
}
