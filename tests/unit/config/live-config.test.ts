import { mkdir, mkdtemp, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLiveConfig, loadConfig } from '../../../config';
import type { LiveConfig } from '../../../config';

interface Line {
  level: string;
  text: string;
  details: object;
}

let folder: string;
let path: string;
let lines: Line[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'live-config-'));
  path = join(folder, 'config.yaml');
  lines = [];
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const SANDBOX = 'sandbox: {use: "deerflow.sandbox.local:LocalSandboxProvider"}\n';

function limit(value: number): string {
  return `${SANDBOX}recursion_limit: ${value}\n`;
}

/** A process whose clock moves on with every look, so that each read looks at the file. */
async function started(content: string | null, env: Record<string, string> = {}): Promise<LiveConfig> {
  if (content !== null) await writeFile(path, content);
  const location = { env, cwd: folder };
  const note = (level: string) => (details: object, text: string) => void lines.push({ level, text, details });
  const log = { info: note('info'), warn: note('warn'), error: note('error') };
  let ahead = 0;
  const now = () => Date.now() + (ahead += 10);
  return createLiveConfig({ location, first: loadConfig(location), log, now });
}

function faultsLogged(): Line[] {
  return lines.filter(({ level }) => level === 'error');
}

const limitOf = (live: LiveConfig) => live.current().config.recursion_limit;

test('a change of the file applies at the next read, also one that keeps its size', async () => {
  const live = await started(limit(11));
  expect(limitOf(live)).toBe(11);
  for (const value of [12, 13, 14, 15]) {
    await writeFile(path, limit(value));
    expect(limitOf(live)).toBe(value);
  }
  expect(lines).toHaveLength(4);
});

test('a file that is empty for a moment, because it is being written, is not taken for one that says nothing', async () => {
  const live = await started(limit(11));
  await writeFile(path, '');
  expect([limitOf(live), live.fault()]).toEqual([11, null]);
  await writeFile(path, limit(12));
  expect(limitOf(live)).toBe(12);
  await writeFile(path, '');
  await utimes(path, 1, 1);
  expect(limitOf(live)).not.toBe(12);
});

test('a configuration that a run holds does not change under it', async () => {
  const live = await started(limit(11));
  const held = live.current().config;
  await writeFile(path, limit(12));
  expect(limitOf(live)).toBe(12);
  expect(held.recursion_limit).toBe(11);
  expect(() => Object.assign(held, { recursion_limit: 1 })).toThrow(TypeError);
});

test('a file that appears where there was none is read', async () => {
  const live = await started(null);
  expect(limitOf(live)).toBe(100);
  await writeFile(path, limit(7));
  expect(limitOf(live)).toBe(7);
});

describe.each([
  ['broken YAML', 'models: [\n', /^config\.yaml:\d+: /],
  ['a half-written file', `${limit(12)}models:\n  - name: a\n    us`, /^config\.yaml:\d+: /],
  ['a value out of range', limit(0), /^config\.yaml:2: recursion_limit: expected at least 1/],
  [
    'an unknown key',
    `${SANDBOX}\n\nlead_prompt_overlay: {appends: x}\n`,
    /^config\.yaml:4: lead_prompt_overlay\.appends: unknown key/,
  ],
  ['a missing variable', `${SANDBOX}recursion_limit: $NOT_THERE\n`, /^config\.yaml:2: .*NOT_THERE/],
])('%s while the process runs', (_, content, fault) => {
  test('the newest valid configuration stays in force, the fault is named with its line and logged once', async () => {
    const live = await started(limit(11));
    await writeFile(path, content);
    for (let read = 0; read < 5; read += 1) expect(limitOf(live)).toBe(11);
    expect(live.fault()).toMatch(fault);
    expect(faultsLogged()).toHaveLength(1);
    await writeFile(path, limit(13));
    expect(limitOf(live)).toBe(13);
    expect(live.fault()).toBeNull();
    await writeFile(path, content);
    expect(limitOf(live)).toBe(13);
    expect(faultsLogged()).toHaveLength(2);
  });
});

test('a folder in the place of the file changes nothing until a file is back', async () => {
  const live = await started(limit(11));
  await rm(path);
  await mkdir(path);
  for (let read = 0; read < 3; read += 1) expect(limitOf(live)).toBe(11);
  expect(live.fault()).toMatch(/^config\.yaml: expected a readable file/);
  expect(faultsLogged()).toHaveLength(1);
  await rm(path, { recursive: true });
  await writeFile(path, limit(12));
  expect(limitOf(live)).toBe(12);
});

test('a file that is deleted and put back as it was is a fault only while it is gone', async () => {
  const live = await started(limit(11));
  await rm(path);
  for (let read = 0; read < 3; read += 1) expect(limitOf(live)).toBe(11);
  expect(live.fault()).toMatch(/it is gone$/);
  expect(faultsLogged()).toHaveLength(1);
  await writeFile(path, limit(11));
  expect(limitOf(live)).toBe(11);
  expect(live.fault()).toBeNull();
});

test('a link that is turned to another file of the same size is followed', async () => {
  await writeFile(join(folder, 'one.yaml'), limit(11));
  await writeFile(join(folder, 'two.yaml'), limit(22));
  await symlink('one.yaml', path);
  const live = await started(null);
  expect(limitOf(live)).toBe(11);
  await symlink('two.yaml', join(folder, 'next'));
  await rename(join(folder, 'next'), path);
  expect(limitOf(live)).toBe(22);
});

test('a key that needs a restart keeps its value, and one line says so', async () => {
  const live = await started(limit(11));
  const changed = limit(12).replace('{', '{allow_host_bash: true, ');
  await writeFile(path, changed);
  for (let read = 0; read < 3; read += 1) expect(live.current().config.sandbox.allow_host_bash).toBe(false);
  expect(limitOf(live)).toBe(12);
  await writeFile(path, `${changed}title: {max_words: 5}\nskills: {container_path: /other, path: /here}\n`);
  expect(live.current().config.skills).toMatchObject({ container_path: '/mnt/skills', path: '/here' });
  expect(lines.filter(({ level }) => level === 'warn').map(({ text }) => text)).toEqual([
    'takes effect after a restart: sandbox',
    'takes effect after a restart: skills.container_path',
  ]);
});

test('a fault never repeats what stands in the file, which may be a key', async () => {
  const live = await started(limit(11));
  for (const content of [
    'models: [}sk-very-secret-0001\n',
    'a: b: "sk-very-secret-0001"\n',
    '"sk-very-secret-0001\n',
  ]) {
    await writeFile(path, content);
    live.current();
    expect(live.fault()).toMatch(/^config\.yaml:\d+: /);
  }
  expect(JSON.stringify(lines) + live.fault()).not.toContain('very-secret');
});

test('without any valid configuration there is nothing to work with, until there is one', async () => {
  await writeFile(path, 'models: [');
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  let ahead = 0;
  const now = () => Date.now() + (ahead += 10);
  const live = createLiveConfig({ location: { env: {}, cwd: folder }, first: null, log, now });
  expect(() => live.current()).toThrow(
    expect.objectContaining({ status: 503, message: 'Configuration not available' }),
  );
  await writeFile(path, limit(3));
  expect(limitOf(live)).toBe(3);
});

test('a read of an unchanged file takes far less than a millisecond', async () => {
  const live = await started(limit(11));
  const settled = createLiveConfig({
    location: { env: {}, cwd: folder },
    first: live.current(),
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    // Each read looks at the file, long after it was written.
    now: (
      (time) => () =>
        (time += 1_000)
    )(Date.now()),
  });
  settled.current();
  const begun = performance.now();
  for (let read = 0; read < 1_000; read += 1) settled.current();
  expect((performance.now() - begun) / 1_000).toBeLessThan(1);
});
