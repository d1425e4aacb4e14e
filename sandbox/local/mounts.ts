/** The mounts of a local sandbox: the thread's directories, skills, and what the operator adds. */
import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, posix } from 'node:path';
import type { Config } from '../../contracts/schemas/config';
import type { SandboxLog } from '../log';
import type { ThreadDirectories, ThreadPaths } from '../paths';
import { ACP_ROOT, OUTPUTS_ROOT, UPLOADS_ROOT, USER_DATA_ROOT, WORKSPACE_ROOT } from '../virtual-paths';
import { isWithin, normaliseVirtualPath, type Mount } from '../virtual-paths';

const SKILL_VIEWS = ['public', 'custom', 'legacy', 'integrations'] as const;

/** The operator's mounts. What cannot be mounted is left out and said in the log; the service goes on. */
export async function customMounts(config: Config['sandbox'], skillsRoot: string, log: SandboxLog): Promise<Mount[]> {
  const reserved = [USER_DATA_ROOT, ACP_ROOT, ...SKILL_VIEWS.map((view) => `${skillsRoot}/${view}`)];
  const mounts: Mount[] = [];
  for (const entry of config.mounts) {
    const virtual = normaliseVirtualPath(entry.container_path);
    const problem = mountProblem(entry, virtual, reserved);
    if (problem !== null) {
      log.warn({ containerPath: entry.container_path }, `Sandbox mount left out: ${problem}`);
    } else if (!(await isDirectory(entry.host_path))) {
      log.error({ containerPath: entry.container_path }, 'Sandbox mount left out: its host directory does not exist');
    } else {
      mounts.push(hostMount(virtual, entry.host_path, !entry.read_only));
    }
  }
  return mounts;
}

/** The directories of one thread. Their real places are fixed here: a link put there later leads nowhere. */
export async function threadMounts(directories: ThreadDirectories): Promise<Mount[]> {
  const root = await realpath(directories.userData);
  const scope = ['workspace', 'uploads', 'outputs'].map((name) => posix.join(root, name));
  const mount = (virtual: string, host: string): Mount => ({ virtual, host, writable: true, scope: async () => scope });
  return [
    mount(WORKSPACE_ROOT, directories.workspace),
    mount(UPLOADS_ROOT, directories.uploads),
    mount(OUTPUTS_ROOT, directories.outputs),
    hostMount(ACP_ROOT, directories.acpWorkspace, false),
  ];
}

export function skillMounts(paths: ThreadPaths, owner: string, skillsRoot: string): Mount[] {
  const views = paths.skillViews(owner);
  return SKILL_VIEWS.map((view) => hostMount(`${skillsRoot}/${view}`, views[view], false));
}

function hostMount(virtual: string, host: string, writable: boolean): Mount {
  const scope = () =>
    realpath(host).then(
      (real) => [real],
      () => [],
    );
  return { virtual, host, writable, scope };
}

function mountProblem(
  entry: Config['sandbox']['mounts'][number],
  virtual: string,
  reserved: readonly string[],
): string | null {
  if (!isAbsolute(entry.host_path)) return 'host_path is not absolute';
  if (!entry.container_path.startsWith('/') || virtual === '/') return 'container_path is not an absolute path';
  if (entry.container_path.split('/').includes('..')) return "container_path contains '..'";
  const taken = reserved.find((prefix) => isWithin(virtual, prefix));
  return taken === undefined ? null : `container_path lies in ${taken}, which is reserved`;
}

async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
