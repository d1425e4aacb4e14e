import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepareHome } from '../../../workers/stack/home';
import { rotateLog, tailOfLog } from '../../../workers/stack/log-file';
import { parseStackOptions } from '../../../workers/stack/options';
import { choosePorts, isPortFree } from '../../../workers/stack/ports';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deer-flow-home-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const parse = (argv: string[], env: NodeJS.ProcessEnv = {}) => parseStackOptions({ argv, env, cwd: folder });

describe('options', () => {
  test('a flag wins over its variable, and relative paths start at the working directory', () => {
    const env = { GATEWAY_PORT: '1', DEER_FLOW_HOME: '/elsewhere', DEER_FLOW_CONFIG_PATH: '/elsewhere.yaml' };
    const options = parse(['--port', '9001', '--home', 'mine', '--config', 'my.yaml'], env);
    expect(options).toMatchObject({ apiPort: 9001, home: join(folder, 'mine') });
    expect(options.env).toMatchObject({ GATEWAY_PORT: '9001', DEER_FLOW_CONFIG_PATH: join(folder, 'my.yaml') });
    expect(parse([], env)).toMatchObject({ apiPort: 1, home: '/elsewhere' });
  });

  test('nothing named means a home in the working directory and ports of our choice', () => {
    const options = parse([]);
    expect(options.home).toBe(join(folder, '.deer-flow'));
    expect(options.apiPort).toBeUndefined();
    expect(options.temporalUiPort).toBeUndefined();
    expect(parse(['--port', '0', '--temporal-ui-port', '0'])).toEqual(
      expect.objectContaining({ apiPort: undefined, temporalUiPort: undefined }),
    );
  });

  test('the .env file names servers as the environment does', () => {
    writeFileSync(join(folder, '.env'), 'TEMPORAL_ADDRESS=temporal.example.com:7233\n');
    expect(parse([]).environment.temporal.address).toBe('temporal.example.com:7233');
    expect(parse([], { TEMPORAL_ADDRESS: 'localhost:1' }).environment.temporal.address).toBe('localhost:1');
  });

  test.each([[['--port', 'x']], [['--port', '65536']], [['--temporal-ui-port', '-1']], [['--home', '']], [['extra']]])(
    '%j is refused as wrong usage',
    (argv) => {
      expect(() => parse(argv)).toThrow(expect.objectContaining({ code: 'bad_request' }) as Error);
    },
  );
});

describe('ports', () => {
  test('a preferred port that is taken is replaced, a named one is refused, and no two are equal', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    try {
      expect(await isPortFree(port)).toBe(false);
      const wish = { purpose: 'the example', remedy: 'choose another' };
      const ports = await choosePorts([{ ...wish, preferred: port }, wish, wish]);
      expect(new Set([...ports, port]).size).toBe(4);
      await expect(choosePorts([wish, { ...wish, named: port }])).rejects.toThrow(
        `Port ${port} (the example) is taken by another program. Stop that program, or choose another.`,
      );
    } finally {
      server.close();
    }
  });
});

describe('the home', () => {
  test('is made where it is missing', () => {
    prepareHome(join(folder, 'a', 'b'));
    expect(existsSync(join(folder, 'a', 'b'))).toBe(true);
  });

  test('on a disk with too little room is refused with both numbers', () => {
    expect(() => prepareHome(folder, Number.MAX_SAFE_INTEGER)).toThrow(/has \d+ MB left; \d+ MB are needed/);
  });

  test('that is no folder is refused with the reason', () => {
    writeFileSync(join(folder, 'file'), '');
    expect(() => prepareHome(join(folder, 'file'))).toThrow(/cannot be used: it is not a folder.*--home/);
    expect(() => prepareHome(join(folder, 'file', 'below'))).toThrow(
      /cannot be used: a part of the path is not a folder/,
    );
  });
});

describe('log files', () => {
  test('a log that has grown too large is kept once and begun anew', () => {
    const path = join(folder, 'example.log');
    writeFileSync(path, 'one\ntwo\nthree\n');
    rotateLog(path, 100);
    expect(tailOfLog(path, 2)).toBe('two\nthree');
    rotateLog(path, 5);
    expect(readFileSync(path, 'utf8')).toBe('');
    expect(readFileSync(`${path}.1`, 'utf8')).toBe('one\ntwo\nthree\n');
  });
});
