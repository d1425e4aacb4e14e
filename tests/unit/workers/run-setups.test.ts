import type { RunSetup } from '../../../activities';
import { createLiveConfig, loadConfig } from '../../../config';
import type { RunConfigurationStore } from '../../../db';
import { createSilentLogger } from '../../../observability';
import { createRunSetups } from '../../../workers/run-setups';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';

let folder: string;
let stored: Map<string, string>;
let reads: number;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'setups-'));
  stored = new Map();
  reads = 0;
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const configurations: RunConfigurationStore = {
  keep: ({ hash, body }) => Promise.resolve(void stored.set(hash, body)),
  body: (hash) => {
    reads += 1;
    return Promise.resolve(stored.get(hash) ?? null);
  },
  prune: () => Promise.resolve(0),
};

async function write(models: object[], limit = 100): Promise<void> {
  await writeFile(join(folder, 'config.yaml'), stringify({ models, recursion_limit: limit }));
}

function model(apiKey: string, name = 'm'): object {
  return { name, use: 'langchain_openai:ChatOpenAI', model: 'm', api_key: apiKey };
}

/** A worker over the file and the store as they are. */
function worker(env: Record<string, string> = {}) {
  const log = createSilentLogger();
  const location = { env, cwd: folder };
  let ahead = 0;
  const now = () => Date.now() + (ahead += 10);
  const live = createLiveConfig({ location, first: loadConfig(location), log, now });
  const build = (config: RunSetup['config']): Promise<RunSetup> => {
    built += 1;
    return Promise.resolve({ config } as RunSetup);
  };
  let built = 0;
  const told: number[] = [];
  const onNewest = ({ config }: RunSetup) => void told.push(config.recursion_limit);
  const setups = createRunSetups({ live, env, configurations, build, onNewest, log, maxSetups: 3 });
  return { setups, built: () => built, told };
}

async function begun(setups: ReturnType<typeof worker>['setups']): Promise<{ configHash: string }> {
  const newest = await setups.newest();
  await configurations.keep(newest);
  return { configHash: newest.hash };
}

test('a run keeps its configuration while the file changes, in its worker and in another one', async () => {
  await write([model('k')], 11);
  const first = worker();
  const run = await begun(first.setups);
  await write([model('k')], 22);
  expect((await first.setups.of(run)).config.recursion_limit).toBe(11);
  expect((await first.setups.newest()).config.recursion_limit).toBe(22);
  expect((await worker().setups.of(run)).config.recursion_limit).toBe(11);
});

test('steps of a run that the worker knows neither ask the database nor build anything', async () => {
  await write([model('k')]);
  const { setups, built } = worker();
  const run = await begun(setups);
  const all = await Promise.all(Array.from({ length: 20 }, () => setups.of(run)));
  expect(new Set(all).size).toBe(1);
  expect([reads, built()]).toEqual([0, 1]);
});

test('many steps that meet an unknown configuration read and build it once', async () => {
  await write([model('k')]);
  const run = await begun(worker().setups);
  const { setups, built } = worker();
  await Promise.all(Array.from({ length: 20 }, () => setups.of(run)));
  expect([reads, built()]).toEqual([1, 1]);
});

test('each configuration that runs begin with is told once, one that is fetched for an older run never', async () => {
  await write([model('k')], 11);
  const run = await begun(worker().setups);
  await write([model('k')], 22);
  const { setups, told } = worker();
  await setups.newest();
  await setups.newest();
  await setups.of(run);
  expect(told).toEqual([22]);
  await write([model('k')], 33);
  await setups.newest();
  expect(told).toEqual([22, 33]);
});

test('a secret that was changed in the file is used by runs that began before', async () => {
  await write([model('old-key')]);
  const { setups } = worker();
  const run = await begun(setups);
  await write([model('new-key')]);
  expect((await setups.of(run)).config.models[0]?.api_key).toBe('new-key');
});

test('a removed model with a key in the file: its worker goes on, another one fails and names the place', async () => {
  await write([model('literal')]);
  const first = worker();
  const run = await begun(first.setups);
  await write([]);
  expect((await first.setups.of(run)).config.models[0]?.api_key).toBe('literal');
  await expect(worker().setups.of(run)).rejects.toMatchObject({
    code: 'configuration',
    message: expect.stringContaining('models[m].api_key') as string,
  });
});

test('a removed model stops no run that does not use it, in no worker', async () => {
  await write([model('key-of-a', 'a'), model('key-of-b', 'b')]);
  const first = worker();
  const run = await begun(first.setups);
  await write([model('new-key-of-a', 'a')]);
  const other = worker();
  for (const modelName of ['a', null]) {
    const { config } = await other.setups.of({ ...run, modelName });
    expect(config.models).toMatchObject([{ name: 'a', api_key: 'new-key-of-a' }]);
  }
  await expect(other.setups.of({ ...run, modelName: 'b' })).rejects.toMatchObject({
    code: 'configuration',
    message: expect.stringContaining('models[b].api_key') as string,
  });
  expect((await first.setups.of({ ...run, modelName: 'b' })).config.models).toHaveLength(2);
  await write([model('newer-key-of-a', 'a')]);
  expect((await other.setups.of({ ...run, modelName: 'a' })).config.models).toMatchObject([
    { api_key: 'newer-key-of-a' },
  ]);
  await write([model('key-of-b', 'b'), model('key-of-a', 'a')]);
  expect((await other.setups.of({ ...run, modelName: 'b' })).config.models).toHaveLength(2);
});

test('a removed model with a key in the environment goes on in every worker', async () => {
  const env = { MODEL_KEY: 'from-the-environment' };
  await write([model('$MODEL_KEY')]);
  const run = await begun(worker(env).setups);
  await write([]);
  expect((await worker(env).setups.of(run)).config.models[0]?.api_key).toBe('from-the-environment');
});

test('a run from before configurations were kept uses the newest one', async () => {
  await write([model('k')], 11);
  const { setups } = worker();
  await write([model('k')], 22);
  expect((await setups.of({ configHash: null })).config.recursion_limit).toBe(22);
});

test('a configuration that is nowhere to be found is a failure that says so', async () => {
  await write([]);
  await expect(worker().setups.of({ configHash: 'unknown' })).rejects.toMatchObject({ code: 'configuration' });
});

test('setups that were not used for long are dropped and made again when they are wanted', async () => {
  await write([model('k')], 1);
  const { setups } = worker();
  const run = await begun(setups);
  for (const limit of [2, 3, 4]) {
    await write([model('k')], limit);
    await begun(setups);
  }
  expect((await setups.of(run)).config.recursion_limit).toBe(1);
  expect(reads).toBe(1);
});
