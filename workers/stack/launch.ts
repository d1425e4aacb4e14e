/**
 * Starts one process of the stack so that none outlives the supervisor, even one that is killed outright:
 *
 * - our own Node processes hold an IPC channel and load `exit-with-parent`, which ends them when it closes;
 * - foreign servers get a shell beside them that holds the read end of a pipe: its end of file means that the
 *   supervisor is gone, and the shell signals the server.
 *
 * Every process leads its own session, so that Ctrl-C in a terminal reaches the supervisor alone, which stops the rest
 * in order.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { AppError } from '../../contracts';
import { openLog } from './log-file';
import type { ProcessRecords } from './process-records';
import { builtFile } from './project-root';

export interface ExitReport {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export type StopMode = 'drain' | 'now';

export interface RunningProcess {
  pid: number;
  exited: Promise<ExitReport>;
  /** Resolves when the process is gone. A second call with `now` hurries the first. */
  stop(mode: StopMode): Promise<void>;
}

export interface LaunchOptions {
  name: string;
  command: string;
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  logFile: string;
  uid?: number;
  gid?: number;
  /** Asks it to finish what it does. */
  stopSignal: NodeJS.Signals;
  /** Asks it to stop as it is; SIGKILL follows. */
  urgentSignal: NodeJS.Signals;
  /** How long it may take to finish. */
  drainMs: number;
  /** Where the process is written down for as long as it runs. */
  records?: ProcessRecords;
}

const URGENT_GRACE_MS = 3_000;

/** The watcher is detached twice: the server must not find a child that it does not know. */
const WATCHED =
  '( ( trap "" INT TERM HUP QUIT; read -r _ <&3 || kill -s "$0" $$ ) >/dev/null 2>&1 & ) ; exec "$@" 3<&-';

/** A server that is not ours. */
export async function launchServer(options: LaunchOptions): Promise<RunningProcess> {
  const log = openLog(options.logFile);
  try {
    const signalName = options.stopSignal.replace('SIG', '');
    const child = spawn('/bin/sh', ['-c', WATCHED, signalName, options.command, ...options.args], {
      ...spawnSettings(options),
      stdio: ['ignore', log, log, 'pipe'],
    });
    const running = await follow(child, options);
    const lifeline = child.stdio[3] as Writable;
    lifeline.on('error', () => undefined);
    void running.exited.then(() => lifeline.end('done\n'));
    return running;
  } finally {
    closeSync(log);
  }
}

/** One of our own processes. `onMessage` hears what it says on its IPC channel. */
export async function launchNode(
  options: Omit<LaunchOptions, 'command' | 'uid' | 'gid'> & { onMessage?: (message: unknown) => void },
): Promise<RunningProcess> {
  const log = openLog(options.logFile);
  try {
    const child = spawn(
      process.execPath,
      ['--enable-source-maps', '--require', builtFile('workers/stack/exit-with-parent.js'), ...options.args],
      { ...spawnSettings(options), stdio: ['ignore', log, log, 'ipc'] },
    );
    if (options.onMessage) child.on('message', options.onMessage);
    return await follow(child, options);
  } finally {
    closeSync(log);
  }
}

function spawnSettings(options: Pick<LaunchOptions, 'env' | 'uid' | 'gid'>) {
  return {
    env: options.env,
    // A server under another user may not be allowed to look at the directory we were started in.
    ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.gid, cwd: '/' }),
    detached: true,
  };
}

async function follow(
  child: ChildProcess,
  options: Pick<LaunchOptions, 'name' | 'stopSignal' | 'urgentSignal' | 'drainMs' | 'records'>,
): Promise<RunningProcess> {
  const exited = new Promise<ExitReport>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (cause: NodeJS.ErrnoException) => {
      reject(new AppError('unavailable', `${options.name} cannot be started: ${cause.code ?? 'unknown'}.`, { cause }));
    });
  });
  child.on('error', () => undefined);
  const pid = child.pid ?? 0;
  options.records?.add({ name: options.name, pid, stopSignal: options.stopSignal });

  let gone = false;
  void exited.then(() => {
    gone = true;
    options.records?.remove(options.name);
  });
  const within = (limitMs: number) => waitAtMost(exited, limitMs);
  const send = (signal: NodeJS.Signals) => void (gone || child.kill(signal));

  const finish = async () => {
    send(options.stopSignal);
    if (await within(options.drainMs)) return;
    await hurry();
  };
  const hurry = async () => {
    send(options.urgentSignal);
    if (await within(URGENT_GRACE_MS)) return;
    send('SIGKILL');
    await exited;
  };
  let stopping: Promise<void> | undefined;
  return {
    pid,
    exited,
    stop: (mode) => {
      if (mode === 'now') return hurry();
      stopping ??= finish();
      return stopping;
    },
  };
}

async function waitAtMost(happening: Promise<unknown>, limitMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), limitMs);
  });
  try {
    return await Promise.race([happening.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
