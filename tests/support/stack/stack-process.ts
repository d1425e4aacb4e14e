/** A stack in a process of its own, seen from outside: what it prints, what runs for it, how it ends. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findInstallation } from '../../../workers/stack/project-root';

export interface StackProcess {
  child: ChildProcess;
  output(): string;
  /** Resolves with the API's address. */
  ready(): Promise<string>;
  waitForOutput(pattern: RegExp, limitMs?: number): Promise<string>;
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

const STAND_INS = join(__dirname, 'start-with-stand-ins.cjs');

/** The command of the build, with its own worker and API. */
export const REAL_START = join(findInstallation(), 'dist', 'workers', 'stack', 'start.js');

export function startStackProcess(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  script = STAND_INS,
): StackProcess {
  const child = spawn(process.execPath, [script, ...args], { env: { ...freshEnvironment(), ...env }, stdio: 'pipe' });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  const waitForOutput = (pattern: RegExp, limitMs = 40_000) =>
    waitFor(`output like ${pattern}`, () => pattern.exec(output)?.[0], { limitMs, explain: () => output });
  return {
    child,
    output: () => output,
    waitForOutput,
    exited,
    async ready() {
      const line = await waitForOutput(/Ready: API (\S+)/);
      return line.replace('Ready: API ', '');
    },
  };
}

/** This process's environment without what would name servers or a port. */
export function freshEnvironment(): NodeJS.ProcessEnv {
  const named = ['DATABASE_URL', 'TEMPORAL_ADDRESS', 'GATEWAY_PORT'];
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !named.includes(name)));
}

/** Polls until there is a value. */
export async function waitFor<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  options: { limitMs?: number; explain?: () => string } = {},
): Promise<T> {
  const deadline = Date.now() + (options.limitMs ?? 30_000);
  for (;;) {
    const value = await look();
    if (value !== undefined && value !== false) return value;
    if (Date.now() > deadline) throw new Error(`Waited in vain for ${what}. ${options.explain?.() ?? ''}`);
    await delay(50);
  }
}

/** The processes that were started for a home, by what their command line or their environment says. */
export function processesOf(home: string): { pid: number; command: string }[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8', maxBuffer: 16 * 1024 * 1024 }).split(
    '\n',
  );
  return lines.flatMap((line) => {
    const [, pid, command] = /^\s*(\d+)\s+(.*)$/.exec(line) ?? [];
    if (pid === undefined || command === undefined) return [];
    return command.includes(home) || environmentOf(pid).includes(`DEER_FLOW_HOME=${home}`)
      ? [{ pid: Number(pid), command }]
      : [];
  });
}

function environmentOf(pid: string): string {
  const path = `/proc/${pid}/environ`;
  try {
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  } catch {
    return '';
  }
}

export function findProcess(home: string, pattern: RegExp): number | undefined {
  return processesOf(home).find(({ command }) => pattern.test(command))?.pid;
}
