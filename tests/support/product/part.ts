import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { findInstallation } from '../../../workers/stack/project-root';

/** One process of the product. */
export interface Part {
  readonly pid: number;
  readonly running: boolean;
  /** Base address, for an API. */
  readonly url: string;
  /** Everything it wrote so far. */
  readonly output: string;
  /** SIGKILL, and wait until it is gone. */
  kill(): Promise<void>;
  /** SIGTERM, and wait until it has drained. */
  stop(): Promise<void>;
  signal(name: NodeJS.Signals): void;
}

const START_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 40_000;
const ROOT = findInstallation();

/** Variables of the test run itself that a part must not see. */
const FOREIGN = /^(TEST_|JEST_|DATABASE_URL|TEMPORAL_|DEER_FLOW_|GATEWAY_|NODE_ENV$)/;

function inherited(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !FOREIGN.test(name)));
}

export interface PartOptions {
  /** Another build of the product than this one. */
  root?: string;
  /** Options of Node, such as a file that is loaded first. */
  nodeOptions?: readonly string[];
}

export async function startPart(
  script: string,
  env: Record<string, string>,
  { root = ROOT, nodeOptions = [] }: PartOptions = {},
): Promise<Part> {
  const child = spawn(process.execPath, [...nodeOptions, join(root, script)], {
    cwd: root,
    env: { ...inherited(), ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  const collect = (chunk: Buffer): void => {
    output += chunk.toString();
  };
  child.stdout?.on('data', collect);
  child.stderr?.on('data', collect);
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const port = await ready(child, () => output);
  return {
    pid: child.pid ?? 0,
    url: port === null ? '' : `http://127.0.0.1:${port}`,
    get running() {
      return child.exitCode === null && child.signalCode === null;
    },
    get output() {
      return output;
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
      await exited;
      clearTimeout(timer);
    },
    signal: (name) => void child.kill(name),
  };
}

async function ready(child: ChildProcess, output: () => string): Promise<number | null> {
  const timer = new AbortController();
  const timeout = setTimeout(() => timer.abort(), START_LIMIT_MS);
  try {
    const gone = once(child, 'exit', { signal: timer.signal }).then(
      () => 'gone' as const,
      () => 'gone' as const,
    );
    for (;;) {
      const event = await Promise.race([once(child, 'message', { signal: timer.signal }), gone]);
      if (event === 'gone') throw new Error(`a part of the product ended while starting:\n${output()}`);
      const [message] = event as [{ type?: string; port?: number }];
      if (message.type === 'ready') return message.port ?? null;
    }
  } catch (error) {
    child.kill('SIGKILL');
    throw timer.signal.aborted ? new Error(`a part of the product did not start in time:\n${output()}`) : error;
  } finally {
    clearTimeout(timeout);
    timer.abort();
  }
}
