/** Two instances of the built product on this machine, by the command that people use. */
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHECK_NAMES } from '../../scripts/instances/checks/names';
import { lockPath } from '../../workers/stack/home-lock';
import { findInstallation } from '../../workers/stack/project-root';
import { findProcess, freshEnvironment, processesOf, waitFor } from '../support/stack/stack-process';

const COMMAND = join(findInstallation(), 'dist', 'scripts', 'instances.js');

let cwd: string;
let folder: string;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'deer-flow-instances-'));
  folder = join(cwd, '.deer-flow', 'multi-instance');
});

afterEach(async () => {
  await instances('down');
  const left = processesOf(folder);
  for (const { pid } of left) process.kill(pid, 'SIGKILL');
  rmSync(cwd, { recursive: true, force: true });
  expect(left).toEqual([]);
});

function environment(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const ports = Object.fromEntries(
    ['GATEWAY_A', 'GATEWAY_B', 'FRONT'].map((name) => [`DEERFLOW_MI_${name}_PORT`, '0']),
  );
  return { ...freshEnvironment(), ...ports, ...more };
}

function instances(line: string, env: NodeJS.ProcessEnv = {}): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const options = { cwd, env: environment(env), timeout: 120_000 };
    execFile(process.execPath, [COMMAND, ...line.split(' ')], options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), output: stdout + stderr });
    });
  });
}

/** Names of the checks by how they went. */
function results(output: string, word: 'ok' | 'FAILED'): string[] {
  return [...output.matchAll(new RegExp(`^${word} +(\\w+):`, 'gm'))].map(([, name]) => name ?? '');
}

function runsNothing(): void {
  expect(processesOf(folder)).toEqual([]);
  const left = existsSync(folder) ? readdirSync(folder) : [];
  expect(left.filter((name) => name !== 'logs')).toEqual([]);
}

test('either of two instances serves what the other one did, and one that was killed is missed by nobody', async () => {
  const up = await instances('up');
  expect(up).toMatchObject({ code: 0 });
  expect(up.output).toMatch(/^Ready: front http:\S+ · a http:\S+ · b http:\S+/m);
  const first = await instances('check');
  expect(first).toMatchObject({ code: 0 });
  expect(results(first.output, 'ok')).toEqual(CHECK_NAMES);
  for (const name of ['instances.json', 'secrets.env', 'config.yaml']) {
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  }
  expect((await instances('up')).output).toMatch(/already runs/);

  expect((await instances('stop b --kill')).output).toMatch(/^b +is stopped/m);
  const front = await instances('check --only front');
  expect(front).toMatchObject({ code: 0 });
  expect(front.output).toMatch(/answered by a; streamed by a/);
  const withoutB = await instances('check');
  expect(withoutB).toMatchObject({ code: 1 });
  expect(results(withoutB.output, 'FAILED')).toContain('ready');

  expect((await instances('start b')).output).toMatch(/^b +runs \(process \d+\)/m);
  expect((await instances('status')).output).not.toMatch(/is stopped/);
  const again = await instances('check');
  expect(again).toMatchObject({ code: 0 });
  expect(results(again.output, 'ok')).toEqual(CHECK_NAMES);
  expect((await instances('logs b')).output).toContain('API listens');

  expect(await instances('down')).toMatchObject({ code: 0 });
  runsNothing();
  expect(readFileSync(join(folder, 'logs', 'b.log'), 'utf8')).toContain('API listens');
}, 240_000);

test('a start that fails half-way says why, and leaves nothing that runs', async () => {
  const missing = await instances('up', { DEERFLOW_MI_BASE_CONFIG: 'missing.yaml' });
  expect(missing).toMatchObject({ code: 1 });
  expect(missing.output).toContain(`DEERFLOW_MI_BASE_CONFIG: there is no file ${join(cwd, 'missing.yaml')}.`);
  runsNothing();

  // The servers are up by the time that anybody notices.
  writeFileSync(join(cwd, 'breaks.cjs'), "if (/server\\.js$/.test(process.argv[1] ?? '')) throw new Error('broken');");
  const broken = await instances('up', { NODE_OPTIONS: `--require ${join(cwd, 'breaks.cjs')}` });
  expect(broken).toMatchObject({ code: 1 });
  expect(broken.output).toContain('Starting worker-1, worker-2, a, b...\nTaking down what was started...');
  expect(broken.output).toMatch(/[ab] ended while starting\. The end of its log/);
  runsNothing();
}, 120_000);

test('an interrupted start, and a death of the process that keeps the instances, leave nothing that runs', async () => {
  const up = spawn(process.execPath, [COMMAND, 'up'], { cwd, env: environment(), stdio: 'pipe' });
  const exited = new Promise((resolve) => up.once('close', resolve));
  await waitFor('PostgreSQL', () => findProcess(folder, /bin\/postgres -D/));
  up.kill('SIGINT');
  expect(await exited).toBe(1);
  runsNothing();

  expect(await instances('up', { DEERFLOW_MI_WORKERS: '1' })).toMatchObject({ code: 0 });
  const { pid } = JSON.parse(readFileSync(lockPath(folder), 'utf8')) as { pid: number };
  process.kill(pid, 'SIGKILL');
  await waitFor('the end of all processes', () => processesOf(folder).length === 0);
  expect(await instances('status')).toMatchObject({ code: 1 });
  expect(await instances('down')).toMatchObject({ code: 0 });
  runsNothing();
}, 120_000);
