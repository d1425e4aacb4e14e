/** `npm start` as its user runs it: in a terminal of its own, until Ctrl-C. */
import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { commandOf } from '../../workers/stack/process-identity';
import { cpuSeconds, processTree } from '../processes';

export interface StackCommandOptions {
  root: string;
  home: string;
  configPath: string;
  signal: AbortSignal;
}

export interface StackCommand {
  /** From the command to the line that says that it is ready. */
  readonly readySeconds: number;
  /** CPU time of all its processes until then, which load on the machine changes less. */
  readonly cpuSeconds: number;
  readonly url: string;
  /** The processes of one kind, with npm's own left out. */
  pids(kind: StackPart): number[];
  /** Ctrl-C. Gives back the seconds until nothing was left. */
  stop(): Promise<number>;
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

export async function runStackCommand(options: StackCommandOptions): Promise<StackCommand> {
  const begun = performance.now();
  const flags = ['--home', options.home, '--config', options.configPath, '--port', '0', '--temporal-ui-port', '0'];
  // A process group of its own is what a terminal gives it: Ctrl-C reaches npm and all that it started.
  const child = spawn('npm', ['start', '--', ...flags], {
    cwd: options.root,
    env: stackEnvironment(),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const pid = child.pid ?? 0;
  const stop = async (): Promise<number> => {
    const asked = performance.now();
    signalGroup(pid, 'SIGINT');
    const late = new AbortController();
    const limit = delay(STOP_LIMIT_MS, undefined, { signal: late.signal }).then(
      () => signalGroup(pid, 'SIGKILL'),
      () => undefined,
    );
    await Promise.race([exited, limit]);
    late.abort();
    await exited;
    return (performance.now() - asked) / 1000;
  };
  try {
    const url = await readyUrl(child, options.signal);
    return {
      readySeconds: (performance.now() - begun) / 1000,
      cpuSeconds: cpuSeconds(pid),
      url,
      pids: (kind) => processTree([pid]).filter((member) => COMMANDS[kind].test(commandOf(member) ?? '')),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
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
  try {
    process.kill(-pid, signal);
  } catch {
    // It has ended.
  }
}
