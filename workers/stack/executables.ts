/** Finding programs on PATH and running them to their end. */
import { execFile } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

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

export function runToEnd(command: string, args: readonly string[], options: RunOptions): Promise<RunResult> {
  const { timeoutMs, ...settings } = options;
  return new Promise((resolve) => {
    execFile(
      command,
      [...args],
      { ...settings, timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: 16 * 1024 * 1024, encoding: 'utf8' },
      (error, stdout, stderr) => {
        const lines = stderr.trim().split('\n').slice(-3).join('\n');
        resolve({ succeeded: error === null, stdout, complaint: lines || error?.message || '' });
      },
    );
  });
}
