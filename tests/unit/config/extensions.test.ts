import { writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openLiveExtensions } from '../../../config';
import type { LiveExtensions } from '../../../config';

let folder: string;
let warnings: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'extensions-'));
  warnings = [];
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const never = (): AbortSignal => new AbortController().signal;

function open({
  env = {},
  overrides,
}: { env?: Record<string, string>; overrides?: () => Record<string, unknown> } = {}): LiveExtensions {
  const log = {
    info: () => undefined,
    warn: (details: object, text: string) => void warnings.push(`${text} ${JSON.stringify(details)}`),
    error: () => undefined,
  };
  return openLiveExtensions({
    location: { env, cwd: folder },
    log,
    ...(overrides === undefined ? {} : { overrides }),
  });
}

function write(content: object | string, name = 'extensions_config.json'): Promise<void> {
  return writeFile(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
}

function server(extra: object): object {
  return { mcpServers: { one: { command: 'run', ...extra } } };
}

describe('which file', () => {
  test('without one there are no extensions', () => {
    expect(open().current()).toEqual({ mcpServers: {}, skills: {}, middlewares: [], mcpInterceptors: [] });
  });

  test('the newer name goes before the older one, and the project root before its backend folder', async () => {
    await mkdir(join(folder, 'backend'));
    await write({ from: 'backend' }, 'backend/extensions_config.json');
    expect(open().current()).toMatchObject({ from: 'backend' });
    await write({ from: 'older' }, 'mcp_config.json');
    expect(open().current()).toMatchObject({ from: 'older' });
    await write({ from: 'newer' });
    expect(open().current()).toMatchObject({ from: 'newer' });
  });

  test('a file that was named is used, and must be there', async () => {
    await write({ from: 'named' }, 'other.json');
    expect(open({ env: { DEER_FLOW_EXTENSIONS_CONFIG_PATH: 'other.json' } }).current()).toMatchObject({
      from: 'named',
    });
    expect(() => open({ env: { DEER_FLOW_EXTENSIONS_CONFIG_PATH: 'missing.json' } })).toThrow(
      'DEER_FLOW_EXTENSIONS_CONFIG_PATH: expected the path of an existing extensions file',
    );
  });
});

describe('what it may hold', () => {
  test('defaults are filled in, the transport may be named either way, and unknown keys are kept', async () => {
    await write({
      ...server({ transport: 'http', url: 'https://mcp.example.com', mine: 1 }),
      skills: { a: {} },
      also: 2,
    });
    const { mcpServers, skills, also } = open().current();
    expect(mcpServers['one']).toMatchObject({
      enabled: true,
      type: 'http',
      tool_name_prefix: true,
      tool_call_timeout: null,
      session_init_timeout: 60,
      routing: { mode: 'off', priority: 0, keywords: [] },
      mine: 1,
    });
    expect([skills['a']?.enabled, also]).toEqual([true, 2]);
  });

  test('a priority outside of its range is moved to its nearest end', async () => {
    await write(server({ routing: { mode: 'prefer', priority: 900 }, tools: { t: { routing: { priority: -3 } } } }));
    const { routing, tools } = open().current().mcpServers['one'] ?? {};
    expect([routing?.priority, tools?.['t']?.routing?.priority]).toEqual([100, 0]);
  });

  test.each([
    ['a misspelt routing hint', { routing: { mod: 'prefer' } }, 'mcpServers.one.routing'],
    ['an unknown transport', { type: 'pigeon' }, 'mcpServers.one.type'],
    ['a limit of no time', { session_init_timeout: 0 }, 'mcpServers.one.session_init_timeout'],
    [
      'one tool with two roles',
      { task_toolsets: [{ name: 's', submit_tool: 'a', status_tool: 'b', cancel_tool: 'a' }] },
      'mcpServers.one.task_toolsets[0].cancel_tool',
    ],
  ])('%s is refused with its place', async (_, extra, place) => {
    await write(server(extra));
    expect(() => open()).toThrow(place);
  });

  test('a variable is filled in, and is empty text where it is not set', async () => {
    await write(server({ env: { A: '$SET', B: '$NOT_SET', C: 'a-$SET' } }));
    expect(open({ env: { SET: 'value' } }).current().mcpServers['one']?.env).toEqual({
      A: 'value',
      B: '',
      C: 'a-$SET',
    });
  });

  test('what config.yaml sets itself wins, also when it changes later', async () => {
    await write({ middlewares: ['file'], skills: { a: { enabled: false } } });
    let section: Record<string, unknown> = { middlewares: ['section'] };
    const live = open({ overrides: () => section });
    expect(live.current()).toMatchObject({ middlewares: ['section'], skills: { a: { enabled: false } } });
    section = {};
    expect(live.current().middlewares).toEqual(['file']);
  });

  test('what config.yaml sets is checked too, and one that is wrong changes nothing until it is mended', async () => {
    await write({ middlewares: ['file'] });
    let section: Record<string, unknown> = {};
    const live = open({ overrides: () => section });
    section = { mcpServers: { one: { type: 'pigeon' } } };
    await write({ middlewares: ['newer'] });
    for (let read = 0; read < 5; read += 1) expect(live.current()).toMatchObject({ middlewares: ['newer'] });
    expect(live.isOverridden('mcpServers')).toBe(false);
    expect(warnings).toEqual([expect.stringContaining('config.yaml: extensions: mcpServers.one.type')]);
    section = { mcpServers: { one: { type: 'http' } } };
    expect(live.current().mcpServers['one']?.type).toBe('http');
    expect(live.isOverridden('mcpServers')).toBe(true);
    section = { mcpServers: null };
    expect(live.isOverridden('mcpServers')).toBe(false);
  });

  test('one interceptor may stand alone, and a server may have all the time it wants to begin', async () => {
    await write({ ...server({ session_init_timeout: null }), mcpInterceptors: 'module:one' });
    const { mcpInterceptors, mcpServers } = open().current();
    expect([mcpInterceptors, mcpServers['one']?.session_init_timeout]).toEqual([['module:one'], null]);
  });

  test('an editor sees the names of variables, not what they hold', async () => {
    await write(server({ args: ['$SET'] }));
    expect(open({ env: { SET: 'value' } }).written()).toEqual(server({ args: ['$SET'] }));
  });
});

describe('a file that changes while processes run', () => {
  test('is seen at the next read, also where it keeps its size', async () => {
    await write({ n: 1 });
    const live = open();
    for (const n of [2, 3, 4]) {
      await write({ n });
      expect(live.current()).toMatchObject({ n });
    }
  });

  test.each([
    ['half-written', '{"mcpServers": {"one": {"comm'],
    ['of another form', '[]'],
    ['of wrong content', '{"mcpServers": {"one": {"type": "pigeon"}}}'],
    ['empty', ''],
  ])('and is %s for a while: the earlier revision stays in force, with one warning', async (_, content) => {
    await write({ n: 1 });
    const live = open();
    await write(content);
    for (let read = 0; read < 5; read += 1) expect(live.current()).toMatchObject({ n: 1 });
    expect(warnings).toHaveLength(1);
    await write({ n: 2 });
    expect(live.current()).toMatchObject({ n: 2 });
    await write(content);
    live.current();
    expect(warnings).toHaveLength(2);
  });

  test('and is gone for a while: the earlier revision stays in force, with one warning', async () => {
    await write({ n: 1 });
    const live = open();
    await rm(join(folder, 'extensions_config.json'));
    for (let read = 0; read < 5; read += 1) expect(live.current()).toMatchObject({ n: 1 });
    expect(warnings).toHaveLength(1);
    await write({ n: 1 });
    expect(live.current()).toMatchObject({ n: 1 });
  });

  test('and no warning repeats what stands in it, which may be a key', async () => {
    await write({});
    const live = open();
    for (const content of ['{"a": sk-very-secret}', '{"mcpServers": {"one": {"args": "sk-very-secret"}}}']) {
      await write(content);
      live.current();
    }
    expect(warnings).toHaveLength(2);
    expect(warnings.join()).not.toContain('very-secret');
  });
});

describe('a write', () => {
  test('is seen by every process that shares the file, and keeps references and unknown keys', async () => {
    await write({ ...server({ env: { A: '$SET' } }), mine: 1 });
    const [one, other] = [open({ env: { SET: 'value' } }), open({ env: { SET: 'value' } })];
    await one.update((document) => ({ ...document, skills: { a: { enabled: false } } }), never());
    expect(other.current().skills['a']?.enabled).toBe(false);
    const text = await readFile(join(folder, 'extensions_config.json'), 'utf8');
    expect(JSON.parse(text)).toMatchObject({ mine: 1, mcpServers: { one: { env: { A: '$SET' } } } });
    expect(text).not.toContain('value');
  });

  test('loses nothing that another writer wrote at the same time, and leaves no other files', async () => {
    await writeAtOnce(20);
    expect(Object.keys(open().current().skills)).toHaveLength(20);
    expect(await readdir(folder)).toEqual(['extensions_config.json']);
  });

  test('loses nothing either where a writer had died in the middle', async () => {
    for (let round = 0; round < 4; round += 1) {
      await write({});
      const lock = join(folder, 'extensions_config.json.lock');
      await writeFile(lock, '');
      await utimes(lock, 1, 1);
      await writeAtOnce(40);
      expect(Object.keys(open().current().skills)).toHaveLength(40);
      expect(await readdir(folder)).toEqual(['extensions_config.json']);
    }
  });

  async function writeAtOnce(count: number): Promise<void> {
    const writers = Array.from({ length: count }, (_, index) => ({ live: open(), name: `skill-${index}` }));
    const add = (name: string) => (document: { readonly skills?: unknown }) => ({
      ...document,
      skills: { ...(document.skills as object | undefined), [name]: { enabled: true } },
    });
    const write = async ({ live, name }: { live: LiveExtensions; name: string }, index: number): Promise<void> => {
      // Each finds another moment of the others.
      await delay(index % 7);
      await live.update(add(name), never());
    };
    await Promise.all(writers.map(write));
  }

  test('makes the file where there is none, for its owner alone, and at the place of one that is linked', async () => {
    await open().update(() => ({ n: 1 }), never());
    const path = join(folder, 'extensions_config.json');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await symlink(path, join(folder, 'link.json'));
    const linked = open({ env: { DEER_FLOW_EXTENSIONS_CONFIG_PATH: 'link.json' } });
    await linked.update(() => ({ n: 2 }), never());
    expect(open().current()).toMatchObject({ n: 2 });
  });

  test('goes on after another writer died in the middle of its own', async () => {
    await write({ n: 1 });
    const lock = join(folder, 'extensions_config.json.lock');
    await writeFile(lock, '');
    await writeFile(join(folder, '.extensions_config.json.one.part'), '{"n"');
    const longAgo = new Date(Date.now() - 60_000);
    await utimes(lock, longAgo, longAgo);
    const live = open();
    await live.update(() => ({ n: 2 }), never());
    expect(live.current()).toMatchObject({ n: 2 });
    expect(await readdir(folder)).toEqual(['extensions_config.json']);
  });

  test('that was stopped until others took its turn writes nothing, and leaves their turn to them', async () => {
    await write({ n: 1 });
    const lock = join(folder, 'extensions_config.json.lock');
    const stopped = open().update((document) => {
      writeFileSync(lock, 'another writer');
      return { ...document, n: 2 };
    }, never());
    await expect(stopped).rejects.toMatchObject({ code: 'unavailable' });
    expect(open().current()).toMatchObject({ n: 1 });
    expect(await readFile(lock, 'utf8')).toBe('another writer');
  });

  test.each([
    ['is written only in part', () => write('{"mcpServers": {"one": {"comm')],
    ['has a fault in another place', () => write({ mcpServers: { one: { type: 'pigeon' } } })],
    ['is gone', () => rm(join(folder, 'extensions_config.json'))],
  ])('does not touch a file that %s, and says that it has to be mended first', async (_, harm) => {
    await write({ n: 1 });
    const live = open();
    await harm();
    await expect(live.update((document) => ({ ...document, n: 2 }), never())).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('Mend it'),
    });
    expect(live.current()).toMatchObject({ n: 1 });
  });

  test('that is not valid changes nothing', async () => {
    await write({ n: 1 });
    const live = open();
    await expect(live.update(() => ({ mcpServers: { one: { type: 'pigeon' } } }), never())).rejects.toThrow(
      'mcpServers.one',
    );
    expect(live.current()).toMatchObject({ n: 1 });
    expect(await readdir(folder)).toEqual(['extensions_config.json']);
  });
});
