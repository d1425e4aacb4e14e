/** Sandboxes on this host: files below the runtime home, and commands in the host's shell where the operator allows it. */
import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Config } from '../../contracts/schemas/config';
import type { Environment } from '../environment';
import { createKeyedMutex } from '../keyed-mutex';
import { silentLog, type SandboxLog } from '../log';
import type { PathPair } from '../masking';
import { createThreadPaths } from '../paths';
import type { Sandbox, SandboxProvider, SandboxScope } from '../sandbox';
import { ACP_ROOT, USER_DATA_ROOT, createPathTable, normaliseVirtualPath, type Mount } from '../virtual-paths';
import { createLocalSandbox } from './local-sandbox';
import { customMounts, skillMounts, threadMounts } from './mounts';
import { createProcessRunner, findShell } from './process-runner';

/** Sandbox objects kept; the least recently used is dropped and made again on demand. */
const MOST_KEPT = 256;

/** What commands get where the composition root passes no environment. */
const BARE_ENVIRONMENT: Environment = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LANG: 'C.UTF-8',
};

export interface LocalSandboxProviderOptions {
  /** Runtime home. */
  home: string;
  config: Config;
  log?: SandboxLog;
  /** The service's environment; commands inherit it without its secrets. */
  environment?: Environment;
  /** Variables that the configuration in force uses as secrets, whatever they are called. */
  secretVariables?: () => ReadonlySet<string>;
}

export function createLocalSandboxProvider(options: LocalSandboxProviderOptions): SandboxProvider {
  const { config, log = silentLog, environment = BARE_ENVIRONMENT } = options;
  const paths = createThreadPaths({ home: resolve(options.home) });
  const skillsRoot = normaliseVirtualPath(config.skills.container_path);
  const locks = createKeyedMutex();
  const processes = createProcessRunner();
  const kept = new Map<string, Promise<Sandbox>>();
  let shared: Promise<{ custom: Mount[]; shell: string }> | undefined;

  async function create(id: string, { owner, threadId }: SandboxScope): Promise<Sandbox> {
    shared ??= Promise.all([customMounts(config.sandbox, skillsRoot, log), findShell()]).then(([custom, shell]) => ({
      custom,
      shell,
    }));
    const { custom, shell } = await shared;
    const directories = await paths.ensure(owner, threadId);
    const mounts = [...(await threadMounts(directories)), ...skillMounts(paths, owner, skillsRoot), ...custom];
    const roots = [USER_DATA_ROOT, skillsRoot, ACP_ROOT, ...custom.map((mount) => mount.virtual)];
    return createLocalSandbox({
      id,
      table: createPathTable(mounts, roots),
      pairs: await pathPairs([...mounts, { virtual: USER_DATA_ROOT, host: directories.userData }]),
      workspace: directories.workspace,
      commandsAllowed: config.sandbox.allow_host_bash,
      inherited: () => ({ environment, secrets: options.secretVariables?.() ?? new Set() }),
      shell,
      processes,
      locks,
    });
  }

  return {
    commandsAllowed: config.sandbox.allow_host_bash,
    async acquire(scope) {
      const id = `local:${scope.owner}:${scope.threadId}`;
      // The directories may have gone with their thread since: they are made again.
      await paths.ensure(scope.owner, scope.threadId);
      const sandbox = kept.get(id) ?? create(id, scope);
      kept.delete(id);
      kept.set(id, sandbox);
      sandbox.catch(() => kept.delete(id));
      const [oldest] = kept.keys();
      if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
      return sandbox;
    },
    async shutdown() {
      processes.stopAll();
      kept.clear();
    },
  };
}

/** Host roots as given and with links resolved. A directory that does not exist yet has only its name. */
async function pathPairs(mounts: ReadonlyArray<PathPair>): Promise<PathPair[]> {
  const resolved = await Promise.all(
    mounts.map(({ virtual, host }) =>
      realpath(host).then(
        (real) => ({ virtual, host: real }),
        () => ({ virtual, host }),
      ),
    ),
  );
  const given = mounts.map(({ virtual, host }) => ({ virtual, host }));
  return [...given, ...resolved.filter((pair) => !given.some((known) => known.host === pair.host))];
}
