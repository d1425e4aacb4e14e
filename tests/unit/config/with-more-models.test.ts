import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLiveConfig, loadConfig, restoreSnapshot, takeSnapshot, withMoreModels } from '../../../config';
import type { LiveConfig } from '../../../config';
import { modelConfigSchema } from '../../../contracts/schemas/config/models';
import type { ModelConfig } from '../../../contracts/schemas/config';
import { createSilentLogger } from '../../../observability';

const KEY = 'sk-a-managed-key-1234';
let folder: string;
let more: readonly ModelConfig[];
let live: LiveConfig;

const entry = (name: string, parts: object = {}): ModelConfig =>
  modelConfigSchema.parse({ name, use: 'langchain_openai:ChatOpenAI', model: 'm', api_key: KEY, ...parts });

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'more-models-'));
  writeFileSync(join(folder, 'config.yaml'), 'models:\n  - {name: file, use: u, model: of the file, api_key: $KEY}\n');
  const location = { env: { KEY: 'k' }, cwd: folder };
  more = [];
  const file = createLiveConfig({ location, first: loadConfig(location), log: createSilentLogger() });
  live = withMoreModels(file, () => more);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const names = (): string[] => live.current().config.models.map(({ name }) => name);

describe('models that are kept beside the configuration file', () => {
  it('stand behind those of the file, come and go, and never take the place of one', () => {
    expect(names()).toEqual(['file']);
    more = [entry('managed'), entry('file')];
    expect(names()).toEqual(['file', 'managed']);
    expect(live.current().config.models[0]?.model).toBe('of the file');
    more = [];
    expect(names()).toEqual(['file']);
  });

  it('are one configuration until something changes, and another one then', () => {
    more = [entry('managed')];
    const first = live.current();
    expect(live.current()).toBe(first);
    more = [entry('managed', { model: 'other' })];
    expect(live.current().signature).not.toBe(first.signature);
  });

  it('are kept by a run that began with them, without their keys', () => {
    more = [entry('managed')];
    const { body } = takeSnapshot(live.current().document);
    expect(body).not.toContain(KEY);
    const restored = restoreSnapshot(body, live.current().document, { KEY: 'k' });
    expect(restored.models[1]).toMatchObject({ name: 'managed', api_key: KEY });
    more = [];
    expect(() => restoreSnapshot(body, live.current().document, { KEY: 'k' })).toThrow(/managed/);
  });

  it('cannot name a variable of the process', () => {
    more = [entry('thief', { api_key: '$KEY' }), entry('other thief', { default_headers: { x: '$KEY' } })];
    expect(names()).toEqual(['file']);
  });
});
