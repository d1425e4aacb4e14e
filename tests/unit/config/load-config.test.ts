import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CONFIG_VERSION, loadConfig, schemaKeys } from '../../../config';
import type { EnvironmentVariables } from '../../../config';
import { AppError } from '../../../contracts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'config-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function load(content: string | Uint8Array, env: EnvironmentVariables = {}) {
  writeFileSync(join(folder, 'config.yaml'), content);
  return loadConfig({ env, cwd: folder });
}

function failure(action: () => unknown): AppError {
  try {
    action();
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('expected an error');
}

const MODEL = 'models:\n  - name: m\n    use: langchain_openai:ChatOpenAI\n    model: gpt\n';

describe('which file is read', () => {
  it('starts on defaults where there is no file', () => {
    const loaded = loadConfig({ env: {}, cwd: folder });
    expect(loaded.path).toBeNull();
    expect(loaded.config.models).toEqual([]);
    expect(loaded.config.recursion_limit).toBe(100);
    expect(loaded.config.tools).toBeNull();
  });

  it('prefers the argument, then the variable, then the project root, then the working folder', () => {
    const root = join(folder, 'root');
    mkdirSync(root);
    for (const [name, limit] of Object.entries({
      'a.yaml': 11,
      'b.yaml': 12,
      'root/config.yaml': 13,
      'config.yaml': 14,
    }))
      writeFileSync(join(folder, name), `recursion_limit: ${limit}\n`);
    const env = { DEER_FLOW_CONFIG_PATH: 'b.yaml', DEER_FLOW_PROJECT_ROOT: root };
    const limit = (path: string | undefined, variables: EnvironmentVariables) =>
      loadConfig({ path, env: variables, cwd: folder }).config.recursion_limit;
    expect(limit('a.yaml', env)).toBe(11);
    expect(limit(undefined, env)).toBe(12);
    expect(limit(undefined, { DEER_FLOW_PROJECT_ROOT: root })).toBe(13);
    expect(limit(undefined, {})).toBe(14);
  });

  it('never falls through from a named file that does not exist, and names the variable', () => {
    writeFileSync(join(folder, 'config.yaml'), 'recursion_limit: 7\n');
    const error = failure(() => loadConfig({ env: { DEER_FLOW_CONFIG_PATH: 'nowhere.yaml' }, cwd: folder }));
    expect(error.message).toBe('DEER_FLOW_CONFIG_PATH: expected the path of an existing configuration file');
    expect(failure(() => loadConfig({ env: { DEER_FLOW_PROJECT_ROOT: '/nowhere' }, cwd: folder })).message).toMatch(
      /^DEER_FLOW_PROJECT_ROOT: /,
    );
  });
});

describe('sections and keys without a value', () => {
  it.each([
    'models:\n',
    'sandbox:\n',
    'tools: null\n',
    'database:\n',
    'sandbox:\n  mounts:\n',
    '',
    '# nothing\n',
    '---\n',
  ])('treats %j as the defaults', (content) => {
    const { config, inactive } = load(content);
    expect(config).toEqual(loadConfig({ env: {}, cwd: '/' }).config);
    expect(inactive).toEqual({ changed: [], usual: [] });
  });

  it('accepts sections and keys of features that are not built yet and lists them', () => {
    const { inactive, config } = load(
      'memory:\n  enabled: true\n  mode: tool\nscheduler: {}\nsandbox:\n  replicas: 5\n  image: box\n  idle_timeout:\n',
    );
    expect(inactive).toEqual({ changed: ['memory', 'sandbox.image', 'sandbox.replicas'], usual: ['scheduler'] });
    expect(config.sandbox.use).toBe('deerflow.sandbox.local:LocalSandboxProvider');
  });

  it('refuses a wish for network isolation that it cannot fulfil', () => {
    expect(failure(() => load('sandbox:\n  network: {mode: isolated}\n')).message).toMatch(
      /^config\.yaml:2: sandbox\.network\.mode: isolated cannot be kept/,
    );
  });
});

describe('what an operator reads when a value is wrong', () => {
  it.each([
    ['models:\n  - name: m\n    model: x\n', 'config.yaml:2: models[0].use: expected text, got nothing'],
    ['models: 5\n', 'config.yaml:1: models: expected a list, got 5'],
    ['recursion_limit: 0\n', 'config.yaml:1: recursion_limit: expected at least 1, got 0'],
    ['recursion_limit: true\n', 'config.yaml:1: recursion_limit: expected a number, got true'],
    ['recursion_limit: 1.5\n', 'config.yaml:1: recursion_limit: expected a whole number, got 1.5'],
    ['recursion_limit: "5"\n', 'config.yaml:1: recursion_limit: expected a number, got text'],
    ['sandbox: []\n', 'config.yaml:1: sandbox: expected a mapping of keys to values, got a list'],
    ['title: {max_chars: 201}\n', 'config.yaml:1: title.max_chars: expected at most 200, got 201'],
    ['title: {enabled: "maybe"}\n', 'config.yaml:1: title.enabled: expected true or false, got text'],
    [
      'runs: {on_disconnect_default: stop}\n',
      'config.yaml:1: runs.on_disconnect_default: expected one of continue, cancel',
    ],
    [
      'lead_prompt_overlay: {before: x}\n',
      /^config\.yaml:1: lead_prompt_overlay\.before: unknown key; expected one of prepend, append/,
    ],
    ['sandbox:\n  mounts:\n    - {host: /a}\n', /^config\.yaml:3: sandbox\.mounts\[0\]\.host_path: expected text/],
    ['modles: []\n', /^config\.yaml:1: modles: unknown key; expected one of config_version, log_level, logging/],
    ['tool_output: {storage_subdir: a/b}\n', /^config\.yaml:1: tool_output\.storage_subdir: .*one path segment/],
    ['a: 1\na: 2\n', 'config.yaml:2: a: expected each key once, line 1 has it too'],
    ['title:\n\tenabled: true\n', 'config.yaml:2: Tabs are not allowed as indentation'],
    ['a: [1\n', /^config\.yaml:\d: /],
    ['a: !custom x\n', /^config\.yaml:1: a value that begins with ! .*quotes$/],
    ['- a\n', 'config.yaml: expected a mapping of keys to values at the top level'],
    ['log_level: 2024-01-01\n', /^config\.yaml:1: log_level: expected text, .*quote dates/],
    ['a: 1\n---\nb: 2\n', /^config\.yaml:2: /],
    ['"__proto__": {polluted: true}\n', 'config.yaml:1: __proto__: unknown key'],
  ])('%j', (content, message) => {
    const error = failure(() => load(content));
    expect(error.code).toBe('configuration');
    expect(error.message).toMatch(message);
    expect(error.message).not.toContain('\n');
    expect(error.message).not.toContain(folder);
  });

  it('says how many more faults there are', () => {
    expect(failure(() => load('recursion_limit: 0\nmax_recursion_limit: 0\nmodles: 1\n')).message).toMatch(
      /\(and 2 more problems\)$/,
    );
  });

  it('never repeats a text, which may be a key in the wrong place', () => {
    const error = failure(() =>
      load('recursion_limit: sk-very-secret\nlogging: {}\nstream_bridge: {type: sk-very-secret}\n'),
    );
    expect(JSON.stringify([error.message, error.options.detail])).not.toContain('secret');
  });

  it('is quick about a file that would expand to gigabytes', () => {
    const levels = Array.from({ length: 12 }, (_, level) =>
      level === 0
        ? 'a0: &a0 [x, x, x, x, x, x, x, x, x, x]'
        : `a${level}: &a${level} [${Array(10)
            .fill(`*a${level - 1}`)
            .join()}]`,
    );
    const began = Date.now();
    expect(failure(() => load(levels.join('\n'))).message).toMatch(/^config\.yaml: expected fewer aliases/);
    expect(Date.now() - began).toBeLessThan(2000);
  });

  it('asks for UTF-8', () => {
    expect(failure(() => load(Buffer.from('log_level: "\xff"', 'latin1'))).message).toBe(
      'config.yaml: expected UTF-8 text',
    );
    expect(failure(() => load(Buffer.from('\ufefflog_level: info', 'utf16le'))).message).toMatch(/expected UTF-8 text/);
  });
});

describe('forms of text files that people have', () => {
  it('reads a byte order mark, CRLF lines, anchors with merges and yes/no', () => {
    const { config } = load(
      Buffer.from(
        '\ufefftitle: &title\r\n  enabled: no\r\n  max_chars: 30\r\nsuggestions:\r\n  enabled: off\r\n',
        'utf8',
      ),
    );
    expect(config.title).toMatchObject({ enabled: false, max_chars: 30 });
    expect(config.suggestions.enabled).toBe(false);
    const merged = load(
      'models:\n  - &base {name: a, use: u, model: m, temperature: 0}\n  - {<<: *base, name: b}\n',
    ).config;
    expect(merged.models[1]).toMatchObject({ name: 'b', use: 'u', temperature: 0 });
  });

  it('keeps the first of two entries with one name', () => {
    const { config } = load('models:\n  - {name: a, use: u, model: first}\n  - {name: a, use: u, model: second}\n');
    expect(config.models.map((model) => model.model)).toEqual(['first']);
  });
});

describe('environment references', () => {
  it('takes a whole value from the environment, in lists and maps, and leaves parts of a text alone', () => {
    const { config } = load(
      `${MODEL}    api_key: $KEY\n    base_url: "http://x/$KEY"\n    description: \${KEY}\n    default_headers: {x: $KEY}\n`,
      { KEY: '$OTHER' },
    );
    expect(config.models[0]).toMatchObject({
      api_key: '$OTHER',
      base_url: 'http://x/$KEY',
      description: '${KEY}',
      default_headers: { x: '$OTHER' },
    });
  });

  it('warns of a form that only other tools know, and takes it as text', () => {
    const { config, warnings } = load(`config_version: ${CONFIG_VERSION}\n${MODEL}    api_key: \${KEY}\n`, {
      KEY: 'k',
    });
    expect(config.models[0]?.api_key).toBe('${KEY}');
    expect(warnings).toEqual([
      'config.yaml: models[0].api_key is no variable but this text: write $NAME, without braces',
    ]);
  });

  it('names key and variable where the variable does not exist', () => {
    expect(failure(() => load(`${MODEL}    api_key: $NOPE\n`)).message).toBe(
      'config.yaml:5: models[0].api_key: Environment variable NOPE not found for config value $NOPE',
    );
  });

  it('takes an empty variable as empty text', () => {
    expect(load(`${MODEL}    api_key: $KEY\n`, { KEY: '' }).config.models[0]?.api_key).toBe('');
  });

  it('takes digits for a number and true for a boolean, and nothing looser', () => {
    expect(load('recursion_limit: $N\ntitle: {enabled: $F}\n', { N: ' 60 ', F: 'false' }).config).toMatchObject({
      recursion_limit: 60,
      title: { enabled: false },
    });
    for (const text of ['60.5', 'abc', '-1', '+1', '1e3', ''])
      expect(failure(() => load('recursion_limit: $N\n', { N: text })).message).toMatch(
        /recursion_limit: expected a number/,
      );
  });
});

describe('the result', () => {
  it('cannot be changed by anyone', () => {
    const { config } = load(MODEL);
    expect(() => Object.assign(config.models[0] ?? {}, { name: 'x' })).toThrow(TypeError);
    expect(() => config.tool_output.exempt_tools.push('x')).toThrow(TypeError);
  });

  it('has a signature that changes with the bytes', () => {
    const first = load('recursion_limit: 5\n').signature;
    expect(load('recursion_limit: 5\n').signature).toBe(first);
    expect(load('recursion_limit: 6\n').signature).not.toBe(first);
  });
});

describe('config.example.yaml', () => {
  const text = readFileSync(join(__dirname, '../../../config.example.yaml'), 'utf8');

  it('shows exactly the defaults', () => {
    const loaded = load(text);
    expect(loaded.config).toEqual({ ...loadConfig({ env: {}, cwd: '/' }).config, config_version: CONFIG_VERSION });
    expect(loaded.warnings).toEqual([]);
    expect(loaded.inactive.changed).toEqual([]);
    expect(loaded.inactive.usual).toContain('memory');
  });

  it('explains every key that the server knows', () => {
    const lines = text.split('\n').map((line) => line.replace(/^[\s#-]+/, ''));
    const missing = schemaKeys().filter((key) => !lines.some((line) => line.startsWith(`${key.split('.').at(-1)}:`)));
    expect(schemaKeys().length).toBeGreaterThan(60);
    expect(missing).toEqual([]);
  });

  it('has working examples in its comments', () => {
    const uncommented = text
      // A default gives way to the example that follows it.
      .replaceAll(/^( *)(\w+): (?:null|\[\]|\{\})\n(?=\1# \2:$)/gm, '')
      .replaceAll(/^( *)# (?=\w+:$| {2,}\S)/gm, '$1');
    const { config } = load(uncommented, { OPENAI_API_KEY: 'k', DATABASE_URL: 'd', OIDC_SECRET: 'o' });
    expect(config.models[0]).toMatchObject({ name: 'gpt', api_key: 'k' });
    expect(config.tools?.map((tool) => tool.name)).toEqual(['read_file', 'web_search']);
    expect(config.sandbox.mounts[0]).toEqual({ host_path: '/srv/data', container_path: '/mnt/data', read_only: false });
  });
});
