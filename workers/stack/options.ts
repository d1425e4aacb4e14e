/** Flags and environment variables of the stack commands. A flag is another way to set its variable, and wins. */
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { parseEnvironment, withEnvironmentFile, type Environment, type EnvironmentVariables } from '../../config';
import { AppError } from '../../contracts';
import { findInstallation } from './project-root';

export interface StackOptions {
  help: boolean;
  /** What the flags, the process and the `.env` file say together: the children get all of it. */
  env: NodeJS.ProcessEnv;
  environment: Environment;
  home: string;
  /** Undefined where the user named none. */
  apiPort?: number;
  temporalUiPort?: number;
  /** Where a fetched Temporal server is kept, best first. */
  cacheDirectories: string[];
}

export interface CommandLine {
  argv: readonly string[];
  env: EnvironmentVariables;
  cwd: string;
}

const FLAGS = {
  port: { type: 'string' },
  home: { type: 'string' },
  config: { type: 'string' },
  'temporal-ui-port': { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

export function parseStackOptions({ argv, env, cwd }: CommandLine): StackOptions {
  const flags = readFlags(argv);
  const named = {
    ...(flags.port === undefined ? {} : { GATEWAY_PORT: String(portOf('--port', flags.port)) }),
    ...(flags.home === undefined ? {} : { DEER_FLOW_HOME: resolve(cwd, notEmpty('--home', flags.home)) }),
    ...(flags.config === undefined ? {} : { DEER_FLOW_CONFIG_PATH: resolve(cwd, notEmpty('--config', flags.config)) }),
  };
  const all = withEnvironmentFile({ ...env, ...named }, cwd);
  const environment = parseEnvironment(all, cwd);
  const uiPort = flags['temporal-ui-port'];
  return {
    help: flags.help ?? false,
    env: { ...all },
    environment,
    home: environment.home,
    // Port 0 asks for any free one, which is what naming none does.
    apiPort: all.GATEWAY_PORT?.trim() ? environment.gateway.port || undefined : undefined,
    temporalUiPort: uiPort === undefined ? undefined : portOf('--temporal-ui-port', uiPort) || undefined,
    cacheDirectories: cacheDirectories(all, cwd, environment.home),
  };
}

function readFlags(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: FLAGS, strict: true, allowPositionals: false }).values;
  } catch (cause) {
    throw usageError((cause as Error).message);
  }
}

function portOf(flag: string, text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port >= 0 && port <= 65_535)) throw usageError(`${flag}: expected a port number from 0 to 65535`);
  return port;
}

function notEmpty(flag: string, text: string): string {
  if (text.trim() === '') throw usageError(`${flag}: expected a path`);
  return text;
}

function usageError(problem: string): AppError {
  return new AppError('bad_request', `${problem}. See --help.`);
}

function cacheDirectories(env: EnvironmentVariables, cwd: string, home: string): string[] {
  const shared = env.DEER_FLOW_CACHE_DIR?.trim();
  return [...(shared ? [resolve(cwd, shared)] : []), join(findInstallation(), '.cache'), join(home, 'cache')];
}
