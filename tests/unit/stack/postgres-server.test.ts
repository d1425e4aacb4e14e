/** The embedded server by itself, without the stack around it. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { choosePorts } from '../../../workers/stack/ports';
import { startPostgres, type PostgresServer } from '../../../workers/stack/postgres/postgres-server';

let folder: string;
let servers: PostgresServer[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deer-flow-postgres-'));
  servers = [];
});
afterEach(async () => {
  await Promise.all(servers.map((server) => server.stop('now')));
  rmSync(folder, { recursive: true, force: true });
});

async function start(directory: string, port?: number): Promise<PostgresServer> {
  const [free = 0] = await choosePorts([{ purpose: 'PostgreSQL', remedy: '' }]);
  const server = await startPostgres({ directory, logFile: join(folder, 'log', 'postgres.log'), port: port ?? free });
  servers.push(server);
  return server;
}

async function query(url: string, text: string): Promise<Record<string, string>[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, string>>(text)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}

test.each([
  ['an open folder', 0o755],
  ['a folder that only its owner may enter', 0o700],
])('it starts in %s and keeps its data over a restart', async (_what, mode) => {
  chmodSync(folder, mode);
  const first = await start(join(folder, 'postgres'));
  await query(first.url, `create table kept as select 'one' as value`);
  await first.stop('drain');
  const second = await start(join(folder, 'postgres'));
  expect(await query(second.url, 'select value from kept')).toEqual([{ value: 'one' }]);
  expect(statSync(folder).mode & 0o777).toBe(mode);
});

test('it is reachable on the loopback interface with its own password only, and durable', async () => {
  const { url } = await start(join(folder, 'postgres'));
  const settings = ['listen_addresses', 'unix_socket_directories', 'fsync', 'synchronous_commit', 'max_connections'];
  const rows = await query(url, `select ${settings.map((name) => `current_setting('${name}') as ${name}`).join()}`);
  expect(rows).toEqual([
    {
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      fsync: 'on',
      synchronous_commit: 'on',
      max_connections: '200',
    },
  ]);
  const wrong = new URL(url);
  wrong.password = 'guessed';
  await expect(query(wrong.href, 'select 1')).rejects.toThrow(/password authentication failed/);
  const passwordFile = join(folder, 'postgres', 'password');
  expect(statSync(passwordFile).mode & 0o777).toBe(0o600);
  expect(readFileSync(passwordFile, 'utf8').length).toBeGreaterThanOrEqual(32);
});

test('text sorts and folds case the same everywhere', async () => {
  const { url } = await start(join(folder, 'postgres'));
  expect(await query(url, `select lower('ÄÖ') as folded, 'Z' < 'a' as bytewise`)).toEqual([
    { folded: 'äö', bytewise: true },
  ]);
});

test('a lock that a killed server left does not keep it from starting, whoever has that process id now', async () => {
  const first = await start(join(folder, 'postgres'));
  await query(first.url, `create table kept as select 'one' as value`);
  process.kill(first.pid, 'SIGKILL');
  await first.exited;
  const lock = join(folder, 'postgres', 'data', 'postmaster.pid');
  const lines = readFileSync(lock, 'utf8').split('\n');
  writeFileSync(lock, [String(process.pid), ...lines.slice(1)].join('\n'));
  const second = await start(join(folder, 'postgres'));
  expect(await query(second.url, 'select value from kept')).toEqual([{ value: 'one' }]);
});

test('half-made data of a start that was cut off is made anew', async () => {
  const draft = join(folder, 'postgres', 'data.draft');
  mkdirSync(draft, { recursive: true });
  writeFileSync(join(draft, 'PG_VERSION'), '18\n');
  const { url } = await start(join(folder, 'postgres'));
  expect(await query(url, 'select 1 as one')).toHaveLength(1);
  expect(existsSync(draft)).toBe(false);
});

test('data without its password is refused with the name of the missing file', async () => {
  const server = await start(join(folder, 'postgres'));
  await server.stop('drain');
  rmSync(join(folder, 'postgres', 'password'));
  await expect(start(join(folder, 'postgres'))).rejects.toThrow(
    /password of the embedded PostgreSQL is missing \(.*password\)/,
  );
});

test('a port that a stranger has is a failure with the words of the log', async () => {
  const first = await start(join(folder, 'postgres'));
  const port = Number(new URL(first.url).port);
  await expect(start(join(folder, 'other'), port)).rejects.toThrow(/ended while starting[\s\S]*already in use/);
});
