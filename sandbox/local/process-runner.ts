/**
 * Runs one command in a shell of this host: a process group of its own, killed as a whole
 * on time-out and on cancellation, with bounded output.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { AppError } from '../../contracts';

export const OUTPUT_LIMIT_BYTES = 10 * 1024 * 1024;

const SHELLS = ['/bin/zsh', '/bin/bash', '/bin/sh'];
/** A pipe that is silent for so many steps, after the shell is gone, counts as read to its end. */
const SILENT_STEPS = 4;
const STEP_MS = 10;
/** A background process that never stops writing does not hold the result back longer than this. */
const LONGEST_DRAIN_MS = 1_000;

export interface ProcessRequest {
  shell: string;
  command: string;
  directory: string;
  environment: Record<string, string>;
  timeoutMs: number;
  signal: AbortSignal;
}

export interface ProcessResult {
  stdout: StreamOutput;
  stderr: StreamOutput;
  /** Null where a signal ended the shell. */
  exitCode: number | null;
  signalName: string | null;
  timedOut: boolean;
}

export interface StreamOutput {
  text: string;
  droppedBytes: number;
}

export interface ProcessRunner {
  /** Throws the signal's reason where it aborts; the process group is dead by then. */
  run(request: ProcessRequest): Promise<ProcessResult>;
  /** Kills the groups whose background processes still hold a pipe of ours. */
  stopAll(): void;
}

export async function findShell(): Promise<string> {
  for (const shell of SHELLS) {
    const isThere = await access(shell, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return shell;
  }
  return 'sh';
}

/**
 * Ends the command, with all that it started, when this process is gone and can end nothing itself. The watcher reads a
 * pipe that only this process holds; it is detached twice, so that the shell has no child that it does not know.
 */
const WATCHED =
  '( ( trap "" INT TERM HUP QUIT; read -r _ <&3 || kill -s KILL -- -$$ ) >/dev/null 2>&1 & ) ; exec "$0" -c "$1" 3<&-';

export function createProcessRunner(): ProcessRunner {
  const groups = new Set<number>();
  return {
    async run(request) {
      request.signal.throwIfAborted();
      const child = spawn('/bin/sh', ['-c', WATCHED, request.shell, request.command], {
        cwd: request.directory,
        env: request.environment,
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      });
      releaseAtExit(child);
      const outputs = [collect(child.stdio[1] as Readable), collect(child.stdio[2] as Readable)] as const;
      const group = child.pid;
      if (group !== undefined) groups.add(group);
      child.once('close', () => groups.delete(group ?? 0));
      const ended = await untilExit(child, request);
      await drained(outputs);
      outputs.forEach((output) => output.detach());
      if (request.signal.aborted && group !== undefined) killGroup(group);
      request.signal.throwIfAborted();
      const [stdout, stderr] = outputs;
      return { stdout: stdout.result(), stderr: stderr.result(), ...ended };
    },
    stopAll() {
      groups.forEach(killGroup);
      groups.clear();
    },
  };
}

/** Tells the watcher that the command has ended in order. */
function releaseAtExit(child: ChildProcess): void {
  const lifeline = child.stdio[3] as Writable;
  lifeline.on('error', () => undefined);
  child.once('exit', () => lifeline.end('done\n'));
  child.once('error', () => lifeline.destroy());
}

function untilExit(
  child: ChildProcess,
  { timeoutMs, signal }: ProcessRequest,
): Promise<Pick<ProcessResult, 'exitCode' | 'signalName' | 'timedOut'>> {
  return new Promise((resolve, reject) => {
    let timedOut = false;
    const kill = () => child.pid !== undefined && killGroup(child.pid);
    const timer = setTimeout(() => {
      timedOut = true;
      kill();
    }, timeoutMs);
    const finish = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', kill);
    };
    signal.addEventListener('abort', kill, { once: true });
    child.once('error', (error) => {
      finish();
      reject(new AppError('sandbox', 'The shell could not be started', { cause: error }));
    });
    child.once('exit', (exitCode, signalName) => {
      finish();
      resolve({ exitCode, signalName, timedOut });
    });
  });
}

function killGroup(group: number): void {
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // Nobody is left in the group.
  }
}

interface Collector {
  /** Rises with every piece that arrives. */
  readonly pieces: number;
  readonly ended: boolean;
  result(): StreamOutput;
  /** From now on everything is read and dropped, without keeping this process alive. */
  detach(): void;
}

function collect(stream: Readable): Collector {
  const kept: Buffer[] = [];
  let keptBytes = 0;
  let droppedBytes = 0;
  let pieces = 0;
  let ended = false;
  const keep = (piece: Buffer) => {
    pieces += 1;
    const room = Math.max(0, OUTPUT_LIMIT_BYTES - keptBytes);
    if (room > 0) kept.push(piece.length > room ? piece.subarray(0, room) : piece);
    keptBytes += Math.min(room, piece.length);
    droppedBytes += Math.max(0, piece.length - room);
  };
  stream.on('data', keep);
  stream.once('close', () => {
    ended = true;
  });
  stream.on('error', () => undefined);
  return {
    get pieces() {
      return pieces;
    },
    get ended() {
      return ended;
    },
    result: () => ({ text: Buffer.concat(kept).toString('utf8'), droppedBytes }),
    detach() {
      stream.off('data', keep);
      stream.on('data', () => undefined);
      if (stream instanceof Socket) stream.unref();
    },
  };
}

/**
 * What the shell wrote is in the pipes when it exits, but perhaps not read yet; the pipes themselves may stay open as
 * long as a background process lives. So this waits for their end or for silence.
 */
async function drained(outputs: readonly Collector[]): Promise<void> {
  const deadline = Date.now() + LONGEST_DRAIN_MS;
  const isOver = () => outputs.every((output) => output.ended) || Date.now() >= deadline;
  const count = () => outputs.reduce((sum, output) => sum + output.pieces, 0);
  for (let silentSteps = 0; silentSteps < SILENT_STEPS && !isOver();) {
    const before = count();
    await new Promise((resolve) => setTimeout(resolve, STEP_MS));
    // A late timer fires before the pipes are looked at: the next turn of the event loop sees what they hold.
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    silentSteps = count() === before ? silentSteps + 1 : 0;
  }
}
