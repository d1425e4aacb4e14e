import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnvironment, processEnvironment, withEnvironmentFile } from '../../../config';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'environment-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('settings of a process', () => {
  it('has a default for everything', () => {
    expect(parseEnvironment({}, folder)).toEqual({
      gateway: { host: '127.0.0.1', port: 8001, docsEnabled: true, corsOrigins: [] },
      projectRoot: folder,
      home: join(folder, '.deer-flow'),
      configPath: null,
      skillsPath: null,
      database: { url: null, schema: 'deerflow' },
      temporal: { address: null, namespace: 'default', taskQueue: 'deerflow', binary: null },
      logLevel: null,
      logFormat: 'json',
      authDisabled: false,
      credentialKeys: null,
      mcpCommands: [],
    });
  });

  it('reads each variable, and empty text as not set', () => {
    mkdirSync(join(folder, 'root'));
    const environment = parseEnvironment(
      {
        GATEWAY_HOST: '0.0.0.0',
        GATEWAY_PORT: '0',
        GATEWAY_CORS_ORIGINS: 'https://a.example, *, ,http://b.example:3000',
        DEER_FLOW_PROJECT_ROOT: 'root',
        DEER_FLOW_HOME: 'state',
        DEER_FLOW_CONFIG_PATH: 'c.yaml',
        DATABASE_URL: 'postgresql://u:p@db.example/x',
        DEER_FLOW_DATABASE_SCHEMA: 'other_schema',
        TEMPORAL_ADDRESS: 'temporal.example:7233',
        TEMPORAL_NAMESPACE: '',
        DEER_FLOW_LOG_LEVEL: 'DEBUG',
        LOG_FORMAT: 'pretty',
        DEER_FLOW_AUTH_DISABLED: '1',
        DEER_FLOW_MCP_STDIO_COMMAND_ALLOWLIST: ' docker,,my-server ',
      },
      folder,
    );
    expect(environment).toMatchObject({
      gateway: { host: '0.0.0.0', port: 0, corsOrigins: ['https://a.example', 'http://b.example:3000'] },
      projectRoot: join(folder, 'root'),
      home: join(folder, 'state'),
      configPath: join(folder, 'c.yaml'),
      database: { url: 'postgresql://u:p@db.example/x', schema: 'other_schema' },
      temporal: { address: 'temporal.example:7233', namespace: 'default' },
      logLevel: 'debug',
      logFormat: 'pretty',
      authDisabled: true,
      mcpCommands: ['docker', 'my-server'],
    });
    expect(Object.isFrozen(environment.gateway)).toBe(true);
  });

  it.each([
    ['true', true],
    ['', true],
    ['false', false],
    ['True', false],
    ['1', false],
    ['yes', false],
  ])('publishes the API documentation for GATEWAY_ENABLE_DOCS=%j: %s', (value, enabled) => {
    expect(parseEnvironment({ GATEWAY_ENABLE_DOCS: value }, folder).gateway.docsEnabled).toBe(enabled);
  });

  it.each([
    ['GATEWAY_PORT', '80a'],
    ['GATEWAY_PORT', '65536'],
    ['GATEWAY_PORT', '-1'],
    ['DEER_FLOW_DATABASE_SCHEMA', 'a"; drop table x'],
    ['DEER_FLOW_LOG_LEVEL', 'loud'],
    ['LOG_FORMAT', 'xml'],
    ['DEER_FLOW_AUTH_DISABLED', 'treu'],
    ['DATABASE_URL', 'mysql://secret-password@db'],
    ['DEER_FLOW_PROJECT_ROOT', 'missing'],
  ])('refuses %s=%s in one line that names the variable and not its value', (name, value) => {
    expect(() => parseEnvironment({ [name]: value }, folder)).toThrow(
      expect.objectContaining({
        code: 'configuration',
        message: expect.stringMatching(new RegExp(`^${name}: expected [^\\n]+$`)),
      }),
    );
    expect(() => parseEnvironment({ [name]: value }, folder)).not.toThrow(value);
  });
});

describe('the .env file', () => {
  const write = (name: string, content: string | Uint8Array) => writeFileSync(join(folder, name), content);

  it('adds what is not set; a variable that is set, even to nothing, wins', () => {
    write('.env', 'A=file\nB=file\nC="quoted text"\n');
    expect(withEnvironmentFile({ A: 'process', B: '', D: undefined }, folder)).toEqual({
      A: 'process',
      B: '',
      C: 'quoted text',
    });
  });

  it('is another file where DEER_FLOW_ENV_FILE names one, and may be empty', () => {
    write('.env', 'A=default\n');
    write('other.env', 'B=other\n');
    expect(withEnvironmentFile({ DEER_FLOW_ENV_FILE: 'other.env' }, folder)).toMatchObject({ B: 'other' });
    expect(withEnvironmentFile({ DEER_FLOW_ENV_FILE: 'other.env' }, folder)).not.toHaveProperty('A');
    write('empty.env', '');
    expect(withEnvironmentFile({ DEER_FLOW_ENV_FILE: 'empty.env' }, folder)).toEqual({
      DEER_FLOW_ENV_FILE: 'empty.env',
    });
  });

  it.each([
    [{ DEER_FLOW_ENV_FILE: '' }],
    [{ DEER_FLOW_ENV_FILE: 'missing.env' }],
    [{ DEER_FLOW_ENV_FILE: '.' }],
    [{ DEER_FLOW_ENV_FILE: 'binary.env' }],
    [{ DEER_FLOW_ENV_FILE: 'fine.env', PYTHON_DOTENV_DISABLED: 'YES' }],
  ])('stops the start for %j without showing any content', (env) => {
    write('binary.env', Buffer.from([0x41, 0x3d, 0xff, 0xfe]));
    write('fine.env', 'SECRET=hidden\n');
    expect(() => withEnvironmentFile(env, folder)).toThrow(expect.objectContaining({ code: 'configuration' }));
    expect(() => withEnvironmentFile(env, folder)).not.toThrow('hidden');
  });

  it.each(['1', 'true', 'T', 'Yes', 'y'])('is not looked for where dotenv is switched off with %j', (word) => {
    write('.env', 'A=file\n');
    write('named.env', '');
    expect(withEnvironmentFile({ PYTHON_DOTENV_DISABLED: word }, folder)).not.toHaveProperty('A');
    expect(() =>
      withEnvironmentFile({ PYTHON_DOTENV_DISABLED: word, DEER_FLOW_ENV_FILE: 'named.env' }, folder),
    ).toThrow(/^DEER_FLOW_ENV_FILE: .*PYTHON_DOTENV_DISABLED/);
  });

  it.each(['', '0', 'false', 'no', 'on', 'off'])('is looked for with PYTHON_DOTENV_DISABLED=%j', (word) => {
    write('.env', 'A=file\n');
    expect(withEnvironmentFile({ PYTHON_DOTENV_DISABLED: word }, folder)).toHaveProperty('A', 'file');
  });

  it('lies in the project root; one beside the configuration or below a path of another folder is not read', () => {
    for (const name of ['root', 'beside']) mkdirSync(join(folder, name));
    write('.env', 'A=working folder\n');
    write('root/.env', 'A=root\n');
    write('beside/.env', 'A=beside\n');
    write('beside/config.yaml', '');
    const env = { DEER_FLOW_PROJECT_ROOT: 'root', DEER_FLOW_CONFIG_PATH: 'beside/config.yaml' };
    expect(withEnvironmentFile(env, folder)).toMatchObject({ A: 'root' });
    // A named file is looked for from the working folder, wherever the project is.
    expect(withEnvironmentFile({ ...env, DEER_FLOW_ENV_FILE: '.env' }, folder)).toMatchObject({ A: 'working folder' });
  });

  it('may have a byte order mark, CRLF lines, quotes, comments and values with signs; a folder of its name is none', () => {
    write('.env', '\ufeffA=one\r\nexport B="t w o" # note\r\n\r\n# C=no\r\nD=\'$A#x=y\'\r\nnot a line\r\nE=\r\n');
    expect(withEnvironmentFile({}, folder)).toEqual({ A: 'one', B: 't w o', D: '$A#x=y', E: '' });
    rmSync(join(folder, '.env'));
    mkdirSync(join(folder, '.env'));
    expect(withEnvironmentFile({ A: 'process' }, folder)).toEqual({ A: 'process' });
  });

  it('of bytes that are no text gives none of its variables', () => {
    write('.env', Buffer.from('A=one\nB=\xff\n', 'latin1'));
    expect(() => withEnvironmentFile({}, folder)).toThrow('.env: expected a file of UTF-8 text');
  });

  it('gives provider libraries their keys through the process environment', () => {
    write('.env', 'ENVIRONMENT_TEST_KEY=from-file\n');
    try {
      expect(processEnvironment(folder).env.ENVIRONMENT_TEST_KEY).toBe('from-file');
      expect(process.env.ENVIRONMENT_TEST_KEY).toBe('from-file');
    } finally {
      delete process.env.ENVIRONMENT_TEST_KEY;
    }
  });
});
