import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { loadConfig } from '../../../config';
import type { LoadedConfig } from '../../../config';
import { AppError } from '../../../contracts';
import { configSchema } from '../../../contracts/schemas/config';

/** Each key of the schema, one after the other, with a value that it cannot have. The rest of its section is right. */
const FIXTURE = join(__dirname, '../../fixtures/every-key.yaml');
const DOCUMENT = parse(readFileSync(FIXTURE, 'utf8'), { version: '1.1' }) as Record<string, unknown>;
const ENV = { EXAMPLE_KEY: 'a-secret', EXAMPLE_PACE: '60' };

type Path = ReadonlyArray<string | number>;
interface Described {
  type?: string;
  enum?: unknown[];
  anyOf?: Described[];
  properties?: Record<string, Described>;
  additionalProperties?: Described | boolean;
  items?: Described;
}

interface Place {
  path: Path;
  value: unknown;
  kinds: Described[];
}

/** The places of the document, with what the schema says of each. */
function places(value: unknown, schemas: readonly Described[], path: Path = []): Place[] {
  const kinds = schemas.flatMap(kindsOf);
  const inner = Array.isArray(value)
    ? value.flatMap((item, index) =>
        places(
          item,
          kinds.flatMap(({ items }) => items ?? []),
          [...path, index],
        ),
      )
    : Object.entries(typeof value === 'object' && value !== null ? value : {}).flatMap(([key, item]) =>
        places(
          item,
          kinds.flatMap((kind) => entryOf(kind, key)),
          [...path, key],
        ),
      );
  return [{ path, value, kinds }, ...inner];
}

function kindsOf(schema: Described): Described[] {
  return schema.anyOf?.flatMap(kindsOf) ?? [schema];
}

function entryOf({ properties = {}, additionalProperties }: Described, key: string): Described[] {
  const own = Object.hasOwn(properties, key) ? properties[key] : undefined;
  if (own !== undefined) return [own];
  return typeof additionalProperties === 'object' ? [additionalProperties] : [];
}

const dotted = (path: Path): string =>
  path.map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`)).join('');

function changed(path: Path, value: unknown): Record<string, unknown> {
  const [section = ''] = path;
  const copy = structuredClone({ [section]: DOCUMENT[section] });
  let parent: object = copy;
  for (const part of path.slice(0, -1)) parent = Reflect.get(parent, part) as object;
  Reflect.set(parent, path.at(-1) ?? '', value);
  return copy;
}

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'wrong-values-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function load(document: object): LoadedConfig {
  writeFileSync(join(folder, 'config.yaml'), stringify(document));
  return loadConfig({ env: ENV, cwd: folder });
}

/** What an operator reads; empty where the value was taken. */
function refusal(path: Path, value: unknown): string {
  const document = changed(path, value);
  try {
    load(document);
    return '';
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'configuration') throw error;
    const named = Number(/^config\.yaml:(\d+): /.exec(error.message)?.[1]);
    const key = path.findLast((part) => typeof part === 'string');
    const line = stringify(document).split('\n')[named - 1] ?? '';
    return line.includes(`${key}:`) || typeof path.at(-1) === 'number' ? error.message : `wrong line: ${error.message}`;
  }
}

const ALL = places(DOCUMENT, [z.toJSONSchema(configSchema, { unrepresentable: 'any' }) as Described]);
/** Anything but a whole number counts as 0 there. */
const LENIENT = 'config_version';
const named = (kind: (kinds: Described[]) => boolean): Array<[string, Path]> =>
  ALL.filter(({ path, kinds }) => kinds.length > 0 && dotted(path) !== LENIENT && kind(kinds)).map(({ path }) => [
    dotted(path),
    path,
  ]);
const has = (type: string) => (kinds: Described[]) => kinds.some((kind) => kind.type === type);
const isText = has('string');
const hasNoText = (type: string) => (kinds: Described[]) => has(type)(kinds) && !isText(kinds);

/** The schema turns this one into another number, and so does not describe it. */
const CLAMPED: [string, Path] = ['tool_search.auto_promote_top_k', ['tool_search', 'auto_promote_top_k']];
const INTEGERS = [...named(hasNoText('integer')), CLAMPED];
const NUMBERS = named(hasNoText('number'));
const FLAGS = named(hasNoText('boolean'));
const CHOICES = named((kinds) => kinds.some((kind) => kind.enum !== undefined));

describe('a whole number', () => {
  it('is what more than a hundred keys are', () => expect(INTEGERS.length).toBeGreaterThan(100));

  it.each(INTEGERS)('is neither true, nor text, nor a fraction: %s', (key, path) => {
    expect(refusal(path, true)).toContain(` ${key}: expected a number, got true`);
    expect(refusal(path, '12')).toContain(` ${key}: expected a number, got text`);
    expect(refusal(path, 1.5)).toContain(` ${key}: expected a whole number, got 1.5`);
  });
});

describe('a whole number in a variable', () => {
  const usual = loadConfig({ path: FIXTURE, env: ENV, cwd: '/' }).config;
  const inVariable = (path: Path, text: string) => {
    writeFileSync(join(folder, 'config.yaml'), stringify(changed(path, '$DIGITS')));
    return loadConfig({ env: { ...ENV, DIGITS: text }, cwd: folder }).config;
  };
  const valueAt = (root: unknown, path: Path) =>
    path.reduce<unknown>((value, part) => (value instanceof Object ? Reflect.get(value, part) : undefined), root);

  it.each(INTEGERS)('is decimal digits, and nothing looser: %s', (key, path) => {
    const digits = String(key === CLAMPED[0] ? 5 : valueAt(usual, path));
    expect(valueAt(inVariable(path, ` ${digits} `), path)).toBe(valueAt(usual, path));
    for (const text of [`+${digits}`, `${digits}.0`, '1e3', 'abc', '-1', '', '0x10', '1_000']) {
      expect(() => inVariable(path, text)).toThrow(`: ${key}: expected a number, got`);
    }
  });
});

describe('a number', () => {
  it.each(NUMBERS)('is neither a word nor true: %s', (key, path) => {
    expect(refusal(path, 'abc')).toContain(` ${key}: expected a number, got text`);
    expect(refusal(path, true)).toContain(` ${key}: expected a number, got true`);
  });
});

describe('a yes or no', () => {
  it.each(FLAGS)('is neither a word nor 1: %s', (key, path) => {
    expect(refusal(path, 'perhaps')).toMatch(new RegExp(` ${escaped(key)}: expected (auto, or )?true or false`));
    expect(refusal(path, 1)).toMatch(new RegExp(` ${escaped(key)}: expected (auto, or )?true or false`));
  });
});

describe('a choice', () => {
  it.each(CHOICES)('has only the words that are named: %s', (key, path) => {
    expect(refusal(path, 'no-such-word')).toContain(` ${key}: expected one of `);
    expect(refusal(path, 'no-such-word')).not.toContain('no-such-word');
  });
});

describe('an unknown key', () => {
  /** Sections that DeerFlow calls strict, and lists whose entries would mean something else without the key. */
  const STRICT = [
    'lead_prompt_overlay',
    'models[0].request_admission',
    'models[1].reasoning',
    'models[1].reasoning.effort',
    'safety_finish_reason.detectors[0]',
    'sandbox.mounts[0]',
    'subagents.agents.general-purpose.prompt_overlay',
    'channels.leader_lease',
  ];
  const mappings = ALL.filter(({ path, kinds }) => path.length > 0 && kinds.some(({ properties }) => properties));
  /** Their further keys are for a provider. */
  const OPEN = /^(models\[\d\](\.pricing)?|tools\[0\]|tool_groups\[0\]|sandbox|channels\.\w+)$/;
  const outcome = (path: Path): string => {
    const loaded = load(changed([...path, 'not_a_key'], 1));
    return loaded.warnings.find((text) => text.includes('not_a_key')) ?? JSON.stringify(loaded.config);
  };

  it.each(STRICT)('stops the start in %s', (key) => {
    const place = mappings.find(({ path }) => dotted(path) === key);
    expect(refusal([...(place?.path ?? []), 'not_a_key'], 1)).toContain(
      ` ${key}.not_a_key: unknown key; expected one of`,
    );
  });

  const others = mappings.filter(({ path }) => !STRICT.includes(dotted(path)));

  it.each(others.map(({ path }): [string, Path] => [dotted(path), path]))(
    'is passed on to a provider, or left out with a warning that names it: %s',
    (key, path) => {
      expect(outcome(path)).toContain(OPEN.test(key) ? '"not_a_key":1' : `config.yaml: ${key}.not_a_key is unknown`);
    },
  );
});

function escaped(text: string): string {
  return text.replace(/[.[\]]/g, '\\$&');
}
