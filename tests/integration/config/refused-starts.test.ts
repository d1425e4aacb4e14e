import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findInstallation } from '../../../workers/stack/project-root';

/** Every way to start the product, with a configuration that it must not start with. */
const COMMANDS = ['workers/stack/start.js', 'workers/stack/start-api.js', 'api/server.js', 'workers/worker.js'];

type Variables = Record<string, string>;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'deer-flow-refused-'));
  await writeFile(join(folder, 'good.env'), 'GOOD_SECRET=hidden-in-the-file\n');
  await writeFile(join(folder, 'binary.env'), Buffer.from([0x41, 0x3d, 0xff, 0xfe]));
  await mkdir(join(folder, 'a-folder'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function start(command: string, variables: Variables): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [join(findInstallation(), 'dist', command)], {
    cwd: folder,
    // Nothing listens at these addresses: whoever gets as far as asking them fails otherwise.
    env: {
      PATH: process.env['PATH'],
      DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none',
      TEMPORAL_ADDRESS: '127.0.0.1:1',
      DEER_FLOW_HOME: join(folder, 'home'),
      ...variables,
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

const model = (rest: string): string =>
  `models:\n  - {name: m, use: "langchain_openai:ChatOpenAI", model: m, ${rest}}\n`;
const POSTGRES = 'database: {backend: postgres, postgres_url: "postgresql://example.invalid/db"}\n';
const laughs = Array.from({ length: 12 }, (_, level) =>
  level === 0
    ? 'a0: &a0 [x, x, x, x]'
    : `a${level}: &a${level} [${Array(9)
        .fill(`*a${level - 1}`)
        .join()}]`,
).join('\n');

const REFUSED: Array<[what: string, yaml: string | null, variables: Variables, line: RegExp]> = [
  ['a named file that is missing', '', { DEER_FLOW_CONFIG_PATH: 'none.yaml' }, /^DEER_FLOW_CONFIG_PATH: expected/],
  ['a folder as the file', null, { DEER_FLOW_CONFIG_PATH: 'a-folder' }, /^DEER_FLOW_CONFIG_PATH: expected/],
  ['a project root that is missing', null, { DEER_FLOW_PROJECT_ROOT: 'none' }, /^DEER_FLOW_PROJECT_ROOT: expected/],
  ['broken YAML', 'title: {}\nmodels: [', {}, /^config\.yaml:2: /],
  ['a key twice', 'title: {}\ntitle: {}\n', {}, /^config\.yaml:2: title: /],
  ['aliases that multiply', laughs, {}, /^config\.yaml: expected fewer aliases/],
  ['ten megabytes', `# ${'x'.repeat(10_000_000)}`, {}, /^config\.yaml: expected at most 2097152 bytes/],
  [
    'a variable that is not set',
    model('api_key: $NOPE'),
    {},
    /^config\.yaml:2: models\[0\]\.api_key: Environment variable NOPE not found for config value \$NOPE$/,
  ],
  [
    'a pace that is no whole number',
    model('request_admission: {requests_per_minute: $RPM}'),
    { RPM: '60.5' },
    /^config\.yaml:2: models\[0\]\.request_admission\.requests_per_minute: expected a number/,
  ],
  [
    'true for a number',
    'scheduler: {max_concurrent_runs: true}\n',
    {},
    /^config\.yaml:1: scheduler\.max_concurrent_runs: expected a number, got true$/,
  ],
  [
    'a lease that is too short, also on one instance',
    'channels:\n  leader_lease: {lease_seconds: 2}\n',
    {},
    /^config\.yaml:2: channels\.leader_lease\.lease_seconds: /,
  ],
  [
    'an unknown key of the lease',
    'channels:\n  leader_lease: {foo: 1}\n',
    {},
    /^config\.yaml:2: channels\.leader_lease\.foo: unknown key/,
  ],
  ['an empty name of the .env file', null, { DEER_FLOW_ENV_FILE: '' }, /^DEER_FLOW_ENV_FILE: expected the path/],
  ['a .env file that is missing', null, { DEER_FLOW_ENV_FILE: 'none.env' }, /^DEER_FLOW_ENV_FILE: expected the path/],
  ['a .env file that is a folder', null, { DEER_FLOW_ENV_FILE: 'a-folder' }, /^DEER_FLOW_ENV_FILE: expected the path/],
  ['a .env file that is no text', null, { DEER_FLOW_ENV_FILE: 'binary.env' }, /^DEER_FLOW_ENV_FILE: .*UTF-8/],
  [
    'a .env file while such files are switched off',
    null,
    { DEER_FLOW_ENV_FILE: 'good.env', PYTHON_DOTENV_DISABLED: 'Yes' },
    /^DEER_FLOW_ENV_FILE: .*PYTHON_DOTENV_DISABLED/,
  ],
  [
    'a key for credentials in another alphabet',
    null,
    { DEER_FLOW_CREDENTIALS_KEY: Buffer.alloc(32, 0xfb).toString('base64') },
    /^DEER_FLOW_CREDENTIALS_KEY: entry 1: expected a Fernet key/,
  ],
  ['several instances on SQLite', null, { DEER_FLOW_MULTI_INSTANCE: 'treu' }, / database\.backend: .*postgres/],
  [
    'several instances whose schedulers do not know of each other',
    `${POSTGRES}scheduler: {enabled: true}\n`,
    { GATEWAY_WORKERS: '2' },
    / scheduler\.multi_instance: /,
  ],
  [
    'several instances with one bot',
    `${POSTGRES}channels: {leader_lease: {enabled: false}, telegram: {enabled: true}}\n`,
    { WEB_CONCURRENCY: '2' },
    /^(?!.*auto).* channels\.leader_lease\.enabled: .*telegram/,
  ],
  [
    'several instances without a common key for credentials',
    `${POSTGRES}channel_connections: {enabled: true}\n`,
    { DEER_FLOW_MULTI_INSTANCE: '1' },
    / DEER_FLOW_CREDENTIALS_KEY: /,
  ],
];

test.each(REFUSED)(
  '%s ends every start with one line, before anything is touched',
  async (_what, yaml, variables, line) => {
    if (yaml !== null) await writeFile(join(folder, 'config.yaml'), yaml);
    for (const { code, output } of await Promise.all(COMMANDS.map((command) => start(command, variables)))) {
      expect(code).toBe(1);
      expect(output.trimEnd()).toMatch(line);
      expect(output.trimEnd().split('\n')).toHaveLength(1);
      expect(output).not.toMatch(/\n\s+at |hidden-in-the-file|Buffer|\+\/v7/);
    }
    expect(existsSync(join(folder, 'home'))).toBe(false);
  },
);
