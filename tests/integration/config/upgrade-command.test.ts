import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CONFIG_VERSION, loadConfig } from '../../../config';
import { findInstallation } from '../../../workers/stack/project-root';

const run = promisify(execFile);
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'deer-flow-upgrade-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function upgrade(env: Record<string, string> = {}, args: readonly string[] = []): Promise<string> {
  const script = join(findInstallation(), 'dist/scripts/config-upgrade.js');
  const { stdout } = await run(process.execPath, [script, ...args], {
    cwd: folder,
    env: { PATH: process.env['PATH'], ...env },
  });
  return stdout;
}

const OLD = '# mine\nrecursion_limit: 7 # few\ntitle: {max_chars: 30}\n';

test('an old file is warned of once, brought up to date with its values, kept as .bak, and then up to date', async () => {
  const path = join(folder, 'config.yaml');
  await writeFile(path, OLD);
  const load = () => loadConfig({ env: {}, cwd: folder });
  expect(load().warnings).toEqual([
    `Your config.yaml (version 0) is outdated — the latest version is ${CONFIG_VERSION}. ` +
      'Run `npm run config:upgrade` to merge new fields into your config.',
  ]);
  expect(await upgrade()).toContain(`from version 0 to ${CONFIG_VERSION}`);
  expect(await readFile(`${path}.bak`, 'utf8')).toBe(OLD);
  const { config, warnings } = load();
  expect(warnings).toEqual([]);
  expect(config).toMatchObject({ config_version: CONFIG_VERSION, recursion_limit: 7, title: { max_chars: 30 } });
  const written = await readFile(path, 'utf8');
  expect(written).toContain('recursion_limit: 7 # few');

  expect(await upgrade()).toBe(`config.yaml is up to date (version ${CONFIG_VERSION}).\n`);
  expect(await readFile(path, 'utf8')).toBe(written);
  expect(await readFile(`${path}.bak`, 'utf8')).toBe(OLD);
});

test('the file that is upgraded is the one that a start reads, also where the .env file names it', async () => {
  await mkdir(join(folder, 'elsewhere'));
  await writeFile(join(folder, 'elsewhere', 'own.yaml'), OLD);
  await writeFile(join(folder, 'config.yaml'), OLD);
  await writeFile(join(folder, '.env'), 'DEER_FLOW_CONFIG_PATH=elsewhere/own.yaml\n');
  expect(await upgrade()).toContain('own.yaml went from version 0');
  expect(await readFile(join(folder, 'config.yaml'), 'utf8')).toBe(OLD);
  expect((await readdir(join(folder, 'elsewhere'))).sort()).toEqual(['own.yaml', 'own.yaml.bak']);
});

test.each<[string, () => Promise<unknown>, string]>([
  ['a folder', () => mkdir(join(folder, 'config.yaml')), 'config.yaml: expected a readable file (EISDIR)\n'],
  [
    'another encoding',
    () => writeFile(join(folder, 'config.yaml'), Buffer.from('# \xe4\nrecursion_limit: 7\n', 'latin1')),
    'config.yaml: expected UTF-8 text\n',
  ],
  [
    'broken YAML',
    () => writeFile(join(folder, 'config.yaml'), 'title: {}\nmodels: [\n'),
    expect.stringMatching(/line 3: mend it first\.\n$/) as unknown as string,
  ],
])('%s is left as it is, and told in one line', async (_what, make, stderr) => {
  await make();
  await expect(upgrade()).rejects.toMatchObject({ code: 1, stderr });
  expect(await readdir(folder)).toEqual(['config.yaml']);
});

test('without a file the example is copied; a named file that is missing is an error, and nothing is written', async () => {
  await expect(upgrade({ DEER_FLOW_CONFIG_PATH: 'none.yaml' })).rejects.toMatchObject({
    code: 1,
    stderr: 'DEER_FLOW_CONFIG_PATH: expected the path of an existing configuration file\n',
  });
  expect(await readdir(folder)).toEqual([]);
  expect(await upgrade()).toContain('the example was copied');
  expect(loadConfig({ env: {}, cwd: folder }).config).toMatchObject({ config_version: CONFIG_VERSION });
});
