/**
 * A process id alone says little: it is reused, soon in a container and surely after a reboot. With the time at which
 * the process started it names one process for good.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

export interface ProcessIdentity {
  pid: number;
  /** Opaque; equal only for the same process. */
  started: string;
}

/** Undefined where no such process runs. */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  const started = process.platform === 'linux' ? startedOnLinux(pid) : readWithPs(pid, 'lstart=');
  return started === undefined ? undefined : { pid, started };
}

export function isRunning(identity: ProcessIdentity): boolean {
  return identifyProcess(identity.pid)?.started === identity.started;
}

/** The command line of a process, for people and for recognising our own. */
export function commandOf(pid: number): string | undefined {
  if (process.platform !== 'linux') return readWithPs(pid, 'command=');
  return readIfThere(`/proc/${pid}/cmdline`)?.replaceAll('\0', ' ').trim();
}

/** Asks a process to end and, where it does not, ends it. Returns when it is gone. */
export async function endProcess(
  identity: ProcessIdentity,
  options: { signal: NodeJS.Signals; graceMs: number },
): Promise<void> {
  sendSignal(identity, options.signal);
  if (await waitUntilGone(identity, options.graceMs)) return;
  sendSignal(identity, 'SIGKILL');
  await waitUntilGone(identity, 5_000);
}

function sendSignal(identity: ProcessIdentity, signal: NodeJS.Signals): void {
  if (!isRunning(identity)) return;
  try {
    process.kill(identity.pid, signal);
  } catch {
    // It ended between the look and the signal, or belongs to another user: waiting tells.
  }
}

async function waitUntilGone(identity: ProcessIdentity, limitMs: number): Promise<boolean> {
  const deadline = Date.now() + limitMs;
  while (isRunning(identity)) {
    if (Date.now() > deadline) return false;
    await delay(50);
  }
  return true;
}

/** Boot id and the start time in clock ticks since boot. A zombie is not a running process. */
function startedOnLinux(pid: number): string | undefined {
  const stat = readIfThere(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The command name, in parentheses, may itself hold spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
  const boot = readIfThere('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
  return `${boot}/${fields[19]}`;
}

function readWithPs(pid: number, column: string): string | undefined {
  try {
    const output = execFileSync('ps', ['-o', column, '-p', String(pid)], { encoding: 'utf8', timeout: 5_000 });
    return output.trim() || undefined;
  } catch {
    return undefined;
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
