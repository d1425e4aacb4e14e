/** The stack as its user meets it. The worker and the API are stand-ins here: all that surrounds them is real. */
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { Client } from 'pg';
import { testServices } from '../support/services';
import {
  findProcess,
  freshEnvironment,
  processesOf,
  startStackProcess,
  waitFor,
  type StackProcess,
} from '../support/stack/stack-process';

interface StandInAnswer {
  pid: number;
  DATABASE_URL: string;
  TEMPORAL_ADDRESS: string;
}

let folder: string;
let home: string;
let stacks: StackProcess[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deer-flow-stack-'));
  home = join(folder, 'home');
  stacks = [];
});

afterEach(async () => {
  for (const stack of stacks) stack.child.kill('SIGINT');
  const rest = await waitFor('the end of all processes', () =>
    processesOf(folder).length === 0 ? [] : undefined,
  ).catch(() => processesOf(folder));
  for (const { pid } of rest) process.kill(pid, 'SIGKILL');
  rmSync(folder, { recursive: true, force: true });
  expect(rest).toEqual([]);
});

function start(args: string[] = [], env: NodeJS.ProcessEnv = {}): StackProcess {
  const stack = startStackProcess(['--home', home, ...args], env);
  stacks.push(stack);
  return stack;
}

async function ask(url: string): Promise<StandInAnswer> {
  return (await (await fetch(url)).json()) as StandInAnswer;
}

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

async function occupy(): Promise<{ server: Server; port: number }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { server, port: address.port };
}

test('one command brings up everything, names it in one line, and Ctrl-C takes all of it down in order', async () => {
  const stack = start();
  const url = await stack.ready();
  expect(stack.output()).toMatch(/^Ready: API http:\/\/127\.0\.0\.1:\d+ · docs \S+\/docs · Temporal UI http:\S+$/m);
  const { DATABASE_URL, TEMPORAL_ADDRESS } = await ask(url);
  expect(await query(DATABASE_URL, 'show fsync')).toEqual([{ fsync: 'on' }]);
  const connection = await Connection.connect({ address: TEMPORAL_ADDRESS });
  await connection.close();

  stack.child.kill('SIGINT');
  expect(await stack.exited).toEqual({ code: 0, signal: null });
  expect(processesOf(home)).toEqual([]);
  expect(readFileSync(join(home, 'stand-in-worker.txt'), 'utf8')).toMatch(/started \d+\nasked to stop\ndrained\n/);
});

test('what was stored is there after a restart on the same home', async () => {
  const first = start();
  const before = await ask(await first.ready());
  await query(before.DATABASE_URL, `create table kept as select 'one' as value`);
  first.child.kill('SIGTERM');
  expect((await first.exited).code).toBe(0);

  const second = start();
  const after = await ask(await second.ready());
  expect(await query(after.DATABASE_URL, 'select * from kept')).toEqual([{ value: 'one' }]);
  expect(new URL(after.DATABASE_URL).password).toBe(new URL(before.DATABASE_URL).password);
});

test('a second start on the same home is refused with the address of the first', async () => {
  const first = start();
  const url = await first.ready();
  const second = start();
  expect((await second.exited).code).toBe(1);
  expect(second.output()).toContain(
    `A stack already runs on this home (process ${first.child.pid}). It answers at ${url}.`,
  );
  expect((await fetch(url)).status).toBe(200);
});

test('each part that dies is started again, on the same ports and with the same data', async () => {
  const stack = start();
  const url = await stack.ready();
  const before = await ask(url);
  await query(before.DATABASE_URL, `create table kept as select 'one' as value`);
  const parts = [/stand-in-api/, /stand-in-worker/, /start-dev/, /bin\/postgres -D/];
  for (const part of parts) {
    const pid = await waitFor('the part', () => findProcess(home, part));
    process.kill(pid, 'SIGKILL');
    await waitFor(`${part} again`, () => {
      const successor = findProcess(home, part);
      return successor !== undefined && successor !== pid;
    });
  }
  await stack.waitForOutput(/PostgreSQL runs again/);
  await stack.waitForOutput(/Temporal runs again/);
  const after = await waitFor('the API', () => ask(url).catch(() => undefined));
  expect(after).toEqual({ ...before, pid: expect.any(Number) as number });
  expect(await query(after.DATABASE_URL, 'select * from kept')).toEqual([{ value: 'one' }]);
});

test('a supervisor that is killed outright leaves no process behind, and the next start goes on', async () => {
  const first = start();
  const before = await ask(await first.ready());
  await query(before.DATABASE_URL, `create table kept as select 'one' as value`);
  first.child.kill('SIGKILL');
  await first.exited;
  await waitFor('the end of all processes', () => processesOf(home).length === 0);

  const second = start();
  const after = await ask(await second.ready());
  expect(await query(after.DATABASE_URL, 'select * from kept')).toEqual([{ value: 'one' }]);
});

test('servers that a killed supervisor did leave behind are ended by the next start', async () => {
  const first = start();
  await first.ready();
  // The watchers of the servers die with the supervisor: nobody is left to tell the servers.
  for (const { pid, command } of processesOf(home)) if (/^\/bin\/sh -c/.test(command)) process.kill(pid, 'SIGKILL');
  const postgres = findProcess(home, /bin\/postgres -D/);
  first.child.kill('SIGKILL');
  await first.exited;
  expect(findProcess(home, /bin\/postgres -D/)).toBe(postgres);

  const second = start();
  await second.ready();
  expect(second.output()).toMatch(/Ended what an earlier start had left running: .*PostgreSQL/);
  expect(findProcess(home, /bin\/postgres -D/)).not.toBe(postgres);
});

test('Ctrl-C twice stops at once, whatever is still at work', async () => {
  const stack = start([], { STAND_IN_NEVER_STOPS: 'worker' });
  await stack.ready();
  stack.child.kill('SIGINT');
  await stack.waitForOutput(/Ctrl-C again stops at once/);
  await new Promise((resolve) => setTimeout(resolve, 400));
  expect(processesOf(home).length).toBeGreaterThan(0);
  const since = Date.now();
  stack.child.kill('SIGINT');
  expect((await stack.exited).code).toBe(0);
  expect(Date.now() - since).toBeLessThan(8_000);
  expect(processesOf(home)).toEqual([]);
});

test('Ctrl-C during the start stops what was started', async () => {
  const stack = start();
  await stack.waitForOutput(/Starting PostgreSQL/);
  stack.child.kill('SIGINT');
  expect((await stack.exited).code).toBe(0);
  expect(processesOf(home)).toEqual([]);
});

test('a port that the user named and a stranger has is named in the refusal', async () => {
  const { server, port } = await occupy();
  try {
    const stack = start(['--port', String(port)]);
    expect((await stack.exited).code).toBe(1);
    expect(stack.output()).toMatch(new RegExp(`Port ${port} \\(the API\\) is taken by another program.*--port`));
    const other = start(['--temporal-ui-port', String(port)]);
    expect((await other.exited).code).toBe(1);
    expect(other.output()).toMatch(new RegExp(`Port ${port} \\(the Temporal UI\\) is taken.*--temporal-ui-port`));
  } finally {
    server.close();
  }
});

test('a worker that cannot start ends the start with the last words of its log', async () => {
  const stack = start([], { STAND_IN_FAILS: 'worker' });
  expect((await stack.exited).code).toBe(1);
  expect(stack.output()).toContain('Worker ended while starting');
  expect(stack.output()).toContain('no such model: example-model');
  expect(processesOf(home)).toEqual([]);
});

test('given servers are used and none is started', async () => {
  const { databaseUrl, temporalAddress } = testServices();
  const stack = start([], { DATABASE_URL: databaseUrl, TEMPORAL_ADDRESS: temporalAddress });
  const answer = await ask(await stack.ready());
  expect(answer).toMatchObject({ DATABASE_URL: databaseUrl, TEMPORAL_ADDRESS: temporalAddress });
  expect(findProcess(home, /start-dev|bin\/postgres/)).toBeUndefined();
  expect(stack.output()).not.toContain('Temporal UI');
});

test('a given server that does not answer is named in the refusal', async () => {
  const { server, port } = await occupy();
  server.close();
  const database = start([], { DATABASE_URL: `postgresql://someone:secret@127.0.0.1:${port}/nowhere` });
  expect((await database.exited).code).toBe(1);
  expect(database.output()).toContain('The database that DATABASE_URL names cannot be used');
  expect(database.output()).not.toContain('secret');
  const temporal = start([], { TEMPORAL_ADDRESS: `127.0.0.1:${port}`, DATABASE_URL: testServices().databaseUrl });
  expect((await temporal.exited).code).toBe(1);
  expect(temporal.output()).toContain(`The Temporal server at 127.0.0.1:${port} (TEMPORAL_ADDRESS) does not answer.`);
});

test('a mistake in the configuration or on the command line is told before anything starts', async () => {
  writeFileSync(join(folder, 'config.yaml'), 'recursion_limit: many\n');
  const wrongFile = start(['--config', join(folder, 'config.yaml')]);
  expect((await wrongFile.exited).code).toBe(1);
  expect(wrongFile.output()).toContain('config.yaml:1: recursion_limit');
  const wrongFlag = start(['--prot', '8001']);
  expect((await wrongFlag.exited).code).toBe(2);
  expect(wrongFlag.output()).toMatch(/--prot.*--help/s);
  expect(existsSync(home)).toBe(false);
});

test('a home below a folder that only its owner may enter works, also as root', async () => {
  chmodSync(folder, 0o700);
  const stack = start();
  const { DATABASE_URL } = await ask(await stack.ready());
  expect(await query(DATABASE_URL, 'select 1 as one')).toEqual([{ one: 1 }]);
  expect(statSync(join(home, 'postgres', 'password')).mode & 0o777).toBe(0o600);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

const NOBODY = 65_534;
// Only root can become another user; without root every other test of this file is the proof.
const asRoot = process.getuid?.() === 0 ? test : test.skip;

asRoot('an ordinary user needs no privilege (only root can try it beside its own tests)', async () => {
  chmodSync(folder, 0o777);
  const script = join(__dirname, '..', 'support', 'stack', 'start-with-stand-ins.cjs');
  const env = freshEnvironment();
  const child = spawn(process.execPath, [script, '--home', home], { uid: NOBODY, gid: NOBODY, env, cwd: folder });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const url = await waitFor('the API', () => /Ready: API (\S+)/.exec(output)?.[1], { explain: () => output });
  expect((await ask(url)).DATABASE_URL).toContain('postgresql://');
  expect(statSync(join(home, 'postgres', 'data')).uid).toBe(NOBODY);
  const ended = new Promise((resolve) => child.once('close', resolve));
  child.kill('SIGINT');
  expect(await ended).toBe(0);
});
