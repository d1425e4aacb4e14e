import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { loadConfig, restoreSnapshot, secretVariables, takeSnapshot } from '../../../config';
import type { LoadedConfig } from '../../../config';

const ENV = { KEY_OF_ONE: 'value-of-the-variable', LIMIT: '50' };

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'snapshot-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function load(document: object, env: Record<string, string> = ENV): Promise<LoadedConfig> {
  const path = join(folder, 'config.yaml');
  await writeFile(path, stringify(document));
  return loadConfig({ path, env, cwd: folder });
}

function model(name: string, extra: object = {}): Record<string, unknown> {
  return { name, use: 'langchain_openai:ChatOpenAI', model: name, base_url: 'https://models.example.com/v1', ...extra };
}

const SECRETS = {
  models: [
    model('one', { api_key: '$KEY_OF_ONE' }),
    model('two', {
      api_key: 'literal-1',
      default_headers: { 'X-Team': 'literal-2', nested: { deep: ['literal-3'] } },
      base_url: 'https://user:literal-4@models.example.com/v1',
      proxy: 'https://models.example.com/v1?sig=literal-5',
    }),
    model('v2.three', {
      openai_api_key: 'literal-6',
      auth_token: 'literal-7',
      note: 'sk-literal-8',
      env: { A: 'literal-9' },
      api_keys: ['literal-10'],
    }),
  ],
  recursion_limit: '$LIMIT',
  lead_prompt_overlay: { append: 'Be brief.' },
};

test('what is stored for a run holds no secret of the file and none of the environment', async () => {
  const { body } = takeSnapshot((await load(SECRETS)).document);
  expect(body).not.toMatch(/literal|value-of-the-variable/);
  expect(body).toContain('"$KEY_OF_ONE"');
  expect(body).toContain('{"$secret":"models[two].default_headers.nested.deep[0]"}');
  expect(body).toContain('Be brief.');
});

test('a stored configuration is read back equal', async () => {
  const loaded = await load(SECRETS);
  const { body } = takeSnapshot(loaded.document);
  expect(restoreSnapshot(body, loaded.document, ENV)).toEqual(loaded.config);
  expect(Object.isFrozen(restoreSnapshot(body, loaded.document, ENV).models)).toBe(true);
});

test('files that say the same have one snapshot: order of keys and secrets do not count', async () => {
  const one = takeSnapshot((await load({ models: [model('a', { api_key: 'x1' })], recursion_limit: 5 })).document);
  const other = takeSnapshot((await load({ recursion_limit: 5, models: [model('a', { api_key: 'x2' })] })).document);
  const changed = takeSnapshot((await load({ recursion_limit: 6, models: [model('a', { api_key: 'x1' })] })).document);
  expect(other).toEqual(one);
  expect(changed.hash).not.toBe(one.hash);
});

test('a secret is found again when other entries come, go and move', async () => {
  const { body } = takeSnapshot(
    (await load({ models: [model('a', { api_key: 'old' })], recursion_limit: 5 })).document,
  );
  const newest = await load({ models: [model('b'), model('a', { api_key: 'new', temperature: 1 })] });
  const restored = restoreSnapshot(body, newest.document, ENV);
  expect(restored.recursion_limit).toBe(5);
  expect(restored.models).toEqual([expect.objectContaining({ name: 'a', api_key: 'new' })]);
  expect(restored.models[0]).not.toHaveProperty('temperature');
});

test('a secret that moved into the environment is taken from there', async () => {
  const { body } = takeSnapshot((await load({ models: [model('a', { api_key: 'old' })] })).document);
  const newest = await load({ models: [model('a', { api_key: '$KEY_OF_ONE' })] });
  expect(restoreSnapshot(body, newest.document, ENV).models[0]?.api_key).toBe('value-of-the-variable');
});

test('a secret that is gone is a failure that names its place and nothing else', async () => {
  const { body } = takeSnapshot((await load({ models: [model('a', { api_key: 'literal-1' })] })).document);
  const newest = await load({ models: [model('b', { api_key: 'literal-2' })] });
  expect(() => restoreSnapshot(body, newest.document, ENV)).toThrow(
    expect.objectContaining({
      code: 'configuration',
      message: 'config.yaml: models[a].api_key: this run began with a secret that is no longer there',
    }),
  );
});

test('a variable that is gone is a failure that names it', async () => {
  const loaded = await load({ models: [model('a', { api_key: '$KEY_OF_ONE' })] });
  const { body } = takeSnapshot(loaded.document);
  expect(() => restoreSnapshot(body, loaded.document, {})).toThrow('KEY_OF_ONE');
});

test('a key for one address is never sent to another that had its place before', async () => {
  const { body } = takeSnapshot((await load({ models: [model('a', { api_key: 'old' })] })).document);
  const newest = await load({ models: [model('a', { api_key: 'new', base_url: 'https://other.example.com/v1' })] });
  expect(() => restoreSnapshot(body, newest.document, ENV)).toThrow(
    'config.yaml: models[a].api_key: this run began with a secret that is for another base_url now',
  );
});

test('what a process sets up at its start is not kept, so that its secrets cannot stop a run', async () => {
  const before = await load({ database: { backend: 'postgres', postgres_url: 'postgresql://u:literal@db/x' } });
  const { body, hasPlaces } = takeSnapshot(before.document);
  expect([body, hasPlaces]).toEqual(['{}', false]);
  const newest = await load({ log_level: 'debug' });
  expect(restoreSnapshot(body, newest.document, ENV).log_level).toBe('debug');
});

test('names, prompts, limits and plain addresses are stored as they are', async () => {
  const document = {
    models: [model('a', { max_tokens: 100, model: 'gpt-4', display_name: 'Token saver' })],
    tools: [{ name: 'ls', use: 'deerflow.sandbox.tools:ls_tool', group: 'file:read' }],
    lead_prompt_overlay: { prepend: 'Costs $5 a day' },
  };
  const snapshot = takeSnapshot((await load(document)).document);
  expect(snapshot.hasPlaces).toBe(false);
  expect(JSON.parse(snapshot.body)).toEqual(document);
});

test('variables that stand for secrets are known by what they are used for, not by their names', () => {
  const models = [{ name: 'a', model: '$MY_MODEL', api_key: '$PLAIN', default_headers: { 'X-Gateway': '$GATE' } }];
  const names = secretVariables({ models, skills: { path: '$SKILLS' } });
  expect([...names].sort()).toEqual(['GATE', 'PLAIN']);
});
