import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import { loadConfig, schemaKeys } from '../../../config';
import { INACTIVE_KEYS, RESTART_KEYS, configSchema } from '../../../contracts/schemas/config';

const PATH = join(__dirname, '../../fixtures/every-key.yaml');
const ENV = { EXAMPLE_KEY: 'a-secret', EXAMPLE_PACE: ' 60 ' };

/** Dotted names as in `schemaKeys`: entries of lists and of maps with free keys all have one name. */
function keysOf(value: unknown, known: ReadonlySet<string>, prefix = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => keysOf(item, known, `${prefix}[]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const dotted = prefix === '' ? key : `${prefix}.${key}`;
    const name = known.has(dotted) ? dotted : `${prefix}.*`;
    return [name, ...keysOf(inner, known, name)];
  });
}

describe('a configuration with every key', () => {
  const known = new Set(schemaKeys());
  const document: unknown = parse(readFileSync(PATH, 'utf8'), { version: '1.1' });
  const loaded = loadConfig({ path: PATH, env: ENV, cwd: '/' });

  it('is what the fixture is: no key of the schema is missing in it', () => {
    const present = new Set(keysOf(document, known));
    expect([...known].filter((key) => !present.has(key))).toEqual([]);
  });

  it('loads without a warning; text from the environment counts as a number where one is needed', () => {
    expect(loaded.warnings).toEqual([]);
    expect(loaded.config.models[0]).toMatchObject({
      api_key: 'a-secret',
      request_admission: { requests_per_minute: 60, group: 'shared' },
    });
    expect(loaded.config.tool_search.auto_promote_top_k).toBe(5);
  });

  it('has every key in force, or named as not active', () => {
    expect(loaded.inactive).toEqual({ changed: INACTIVE_KEYS, usual: [] });
    const usual: object = configSchema.parse({});
    const same = Object.keys(usual).filter((key) =>
      isDeepStrictEqual(Reflect.get(loaded.config, key), Reflect.get(usual, key)),
    );
    expect(same).toEqual([]);
  });
});

describe('the lists beside the schema', () => {
  const known = new Set(schemaKeys());

  it.each([...INACTIVE_KEYS, ...RESTART_KEYS])('name keys that exist: %s', (key) => {
    expect(known.has(key)).toBe(true);
  });
});
