/** `npm start` as its user runs it: in a terminal of its own, until Ctrl-C. */
import { spawn } from 'node:child_process';
import { commandOf } from '../../workers/stack/process-identity';
import { cpuSeconds, processTree } from '../processes';

export interface StackCommandOptions {
  root: string;
  home: string;
  configPath: string;
  signal: AbortSignal;
}

export interface StackCommand {
  /** Resolves with the line that says that it is ready. */
  readonly ready: Promise<ReadyStack>;
  /** The processes of one kind. */
  pids(kind: StackPart): number[];
  /** Ctrl-C. Gives back the seconds until nothing was left. A second call waits for the first. */
  stop(): Promise<number>;
}

export interface ReadyStack {
  /** From the command to the line. */
  seconds: number;
  /** CPU time of all its processes until then, which load on the machine changes less. */
  cpuSeconds: number;
  url: string;
}

export type StackPart = keyof typeof COMMANDS;

const COMMANDS = {
  supervisor: /workers\/stack\/start\.js/,
  worker: /dist\/workers\/worker\.js/,
  api: /dist\/api\/server\.js/,
  temporal: /server start-dev/,
  postgres: /bin\/postgres -D/,
} as const;

const START_LIMIT_MS = 120_000;
const STOP_LIMIT_MS = 90_000;

export function runStackCommand(options: StackCommandOptions): StackCommand {
  const begun = performance.now();
  const flags = ['--home', options.home, '--config', options.configPath, '--port', '0', '--temporal-ui-port', '0'];
  // A process group of its own is what a terminal gives it: Ctrl-C reaches npm and all that it started.
  const child = spawn('npm', ['start', '--', ...flags], {
    cwd: options.root,
    env: stackEnvironment(),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
    child.once('error', () => resolve());
  });
  const pid = child.pid ?? 0;
  const ready = readyUrl(child, options.signal).then((url) => ({
    seconds: (performance.now() - begun) / 1000,
    cpuSeconds: cpuSeconds(pid),
    url,
  }));
  // Whoever waits for it gets the failure.
  ready.catch(() => undefined);
  let stopping: Promise<number> | undefined;
  return {
    ready,
    pids: (kind) => processTree([pid]).filter((member) => COMMANDS[kind].test(commandOf(member) ?? '')),
    stop: () => (stopping ??= stopGroup(pid, exited)),
  };
}

async function stopGroup(pid: number, exited: Promise<void>): Promise<number> {
  const asked = performance.now();
  signalGroup(pid, 'SIGINT');
  const timer = setTimeout(() => signalGroup(pid, 'SIGKILL'), STOP_LIMIT_MS);
  await exited;
  clearTimeout(timer);
  return (performance.now() - asked) / 1000;
}

function readyUrl(child: ReturnType<typeof spawn>, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    const fail = (what: string) => (): void => {
      clearTimeout(timer);
      reject(new Error(`npm start ${what}:\n${output}`));
    };
    const timer = setTimeout(fail('was not ready in time'), START_LIMIT_MS);
    const read = (chunk: Buffer): void => {
      output += chunk.toString();
      const url = /Ready: API (\S+)/.exec(output)?.[1];
      if (url === undefined) return;
      clearTimeout(timer);
      resolve(url);
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('error', fail('could not be run'));
    child.once('close', fail('ended'));
    signal.addEventListener('abort', fail('was given up'), { once: true });
  });
}

/** Without what would name a server, a port, a home or a configuration. */
function stackEnvironment(): NodeJS.ProcessEnv {
  const kept = ['DEER_FLOW_CACHE_DIR', 'DEER_FLOW_TEMPORAL_BIN'];
  const foreign = /^(DATABASE_URL|TEMPORAL_|DEER_FLOW_|GATEWAY_|NODE_ENV$|NODE_OPTIONS$)/;
  const own = Object.entries(process.env).filter(([name]) => kept.includes(name) || !foreign.test(name));
  return { ...Object.fromEntries(own), PYTHON_DOTENV_DISABLED: '1', npm_config_update_notifier: 'false' };
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  // It never began. Zero would be this process's own group.
  if (pid === 0) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // It has ended.
  }
}
