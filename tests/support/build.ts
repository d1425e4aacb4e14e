/** The processes that tests start run from the build: it must be as new as the sources. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findInstallation } from '../../workers/stack/project-root';

const NOT_SOURCES = new Set(['node_modules', 'dist', 'docs', 'tests', 'coverage', '.git', '.cache', '.deer-flow']);

/** Runs `npm run build` where a source is newer than the build. Throws with the compiler's words where it fails. */
export function ensureBuilt(): void {
  const root = findInstallation();
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts?: { build?: string } };
  if (!manifest.scripts?.build) return;
  if (process.env.DEER_FLOW_TEST_SKIP_BUILD) {
    process.stderr.write('The tests run on the build as it is (DEER_FLOW_TEST_SKIP_BUILD).\n');
    return;
  }
  const stamp = join(root, 'dist', '.tested-build');
  const built = Math.max(timeOf(stamp), newestIn(join(root, 'dist'), '.js'));
  if (newestSource(root) <= built) return;
  const started = new Date();
  try {
    execFileSync('npm', ['run', 'build'], { cwd: root, encoding: 'utf8', stdio: 'pipe', timeout: 300_000 });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`The build that the tests run on failed:\n${stdout}${stderr}`);
  }
  // An incremental build leaves unchanged files as old as they were: the stamp says when we last looked.
  writeFileSync(stamp, '');
  utimesSync(stamp, started, started);
}

function timeOf(path: string): number {
  return existsSync(path) ? statSync(path).mtimeMs : 0;
}

function newestSource(root: string): number {
  const folders = readdirSync(root, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && !NOT_SOURCES.has(entry.name),
  );
  const files = ['tsconfig.json', 'tsconfig.build.json', 'package.json'].map((name) => join(root, name));
  return Math.max(...files.map(timeOf), ...folders.map((folder) => newestIn(join(root, folder.name), '')));
}

function newestIn(directory: string, ending: string): number {
  if (!existsSync(directory)) return 0;
  const entries = readdirSync(directory, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .reduce((newest, entry) => Math.max(newest, statSync(join(entry.parentPath, entry.name)).mtimeMs), 0);
}
