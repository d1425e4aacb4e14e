/** A worker of an older version beside one of this version, as during a deploy. */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { findInstallation } from '../../../workers/stack/project-root';
import { trickle } from './load';
import type { Scenario } from './scenario';

const WORKER_CODE = ['workflows', 'activities', 'core', 'contracts', 'db', 'models', 'tools', 'sandbox', 'workers'];
const BUILD_LIMIT_MS = 300_000;
const ROUNDS = 3;

/** The whole id of a commit; null where the history does not have it. */
function commitOf(revision: string | null): string | null {
  const git = (...args: string[]): string =>
    execFileSync('git', args, {
      cwd: findInstallation(),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  try {
    const newest = git('log', '-1', '--format=%H', '--', ...WORKER_CODE);
    return git('rev-parse', '--verify', `${revision ?? `${newest}^`}^{commit}`);
  } catch {
    return null;
  }
}

/** A build of that commit, below the folder for caches; packages are found in the project's own. */
async function buildOf(commit: string): Promise<string> {
  const folder = join(findInstallation(), '.cache', 'old-versions', commit.slice(0, 12));
  if (existsSync(join(folder, 'dist', 'workflow-bundle.js'))) return folder;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const sh = (command: string, cwd: string) =>
    promisify(execFile)('sh', ['-c', command], { cwd, timeout: BUILD_LIMIT_MS });
  await sh(`git archive ${commit} | tar -x -C "${folder}"`, findInstallation());
  await sh('npm run build', folder);
  return folder;
}

export function versionsSideBySide(revision: string | null): Scenario {
  let known: { commit: string | null } | null = null;
  // Only when it is needed: naming the scenarios must not need a git history.
  const commit = (): string | null => (known ??= { commit: commitOf(revision) }).commit;
  return {
    name: 'worker: an old version beside the new one',
    title: 'a worker of an older version shares the work with one of this version: every run goes on in either',
    long: true,
    unavailable: () => (commit() === null ? 'the git history does not have the older version' : null),
    async ownCluster() {
      await buildOf(commit() ?? '');
      return {};
    },
    async run(context) {
      const { random, cluster, note } = context;
      const [old, current] = cluster.workers;
      if (old === undefined || current === undefined) throw new Error('two workers are needed');
      const root = await buildOf(commit() ?? '');
      note(`the older version is ${commit()?.slice(0, 12)}`);
      await old.stop();
      await old.start({ root });
      await trickle(context, async () => {
        for (let round = 0; round < ROUNDS; round += 1) {
          // Each has to take over what the other began.
          await delay(random.between(2_000, 5_000));
          await current.kill();
          await delay(random.between(2_000, 5_000));
          await current.start();
          await delay(random.between(1_000, 3_000));
          await old.kill();
          await delay(random.between(2_000, 5_000));
          await old.start({ root });
        }
        await old.stop();
        await old.start();
      });
    },
  };
}
