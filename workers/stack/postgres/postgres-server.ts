/** The embedded PostgreSQL: on the loopback interface only, with a password of its own. */
import { dirname, join } from 'node:path';
import { chmodSync, mkdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { AppError } from '../../../contracts';
import { launchServer, type RunningProcess } from '../launch';
import { tailOfLog } from '../log-file';
import type { ProcessRecords } from '../process-records';
import { findPostgresBinaries } from './binaries';
import { prepareDataDirectory, SUPERUSER } from './data-directory';
import { chooseRunAs } from './run-as';

const DATABASE = 'deerflow';
const START_LIMIT_MS = 60_000;

export interface PostgresOptions {
  /** The folder for everything of the server. */
  directory: string;
  logFile: string;
  port: number;
  /** Replaces single settings; tests turn durability off. */
  settings?: Readonly<Record<string, string>>;
  records?: ProcessRecords;
  signal?: AbortSignal;
}

export interface PostgresServer extends RunningProcess {
  url: string;
}

const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  // No socket file: its path would be too long under many homes, and nobody needs it.
  unix_socket_directories: '',
  fsync: 'on',
  synchronous_commit: 'on',
  max_connections: '200',
  shared_buffers: '128MB',
};

/** Starts the server and returns when the database is there. */
export async function startPostgres(options: PostgresOptions): Promise<PostgresServer> {
  mkdirSync(options.directory, { recursive: true });
  // The server's user must pass through to its data; the password file has its own mode.
  chmodSync(options.directory, 0o711);
  const binaries = findPostgresBinaries();
  const runAs = chooseRunAs({
    dataDirectory: join(options.directory, 'data'),
    mustEnter: [options.directory, dirname(binaries.postgres)],
  });
  const data = await prepareDataDirectory({ ...options, initdb: binaries.initdb, runAs });
  const settings = Object.entries({ ...SETTINGS, port: String(options.port), ...options.settings });
  const args = ['-D', data.path, ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])];
  const server = await launchServer({
    ...runAs.wrap(binaries.postgres, args),
    name: 'PostgreSQL',
    env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
    logFile: options.logFile,
    records: options.records,
    stopSignal: 'SIGINT',
    urgentSignal: 'SIGQUIT',
    drainMs: 20_000,
  });
  try {
    await ensureDatabase(server, { ...options, password: data.password });
  } catch (error) {
    await server.stop('now');
    throw error;
  }
  return { ...server, url: urlOf(options.port, data.password, DATABASE) };
}

export function postgresUrl(port: number, password: string): string {
  return urlOf(port, password, DATABASE);
}

async function ensureDatabase(server: RunningProcess, options: PostgresOptions & { password: string }): Promise<void> {
  const client = await connectWhenReady(server, options);
  try {
    const found = await client.query('select 1 from pg_database where datname = $1', [DATABASE]);
    if (found.rowCount === 0) await client.query(`create database ${DATABASE}`);
  } finally {
    await client.end();
  }
}

async function connectWhenReady(
  server: RunningProcess,
  options: PostgresOptions & { password: string },
): Promise<Client> {
  let ended = false;
  void server.exited.then(() => (ended = true));
  const deadline = Date.now() + START_LIMIT_MS;
  for (;;) {
    options.signal?.throwIfAborted();
    if (ended) throw failure('ended while starting', options.logFile);
    const url = urlOf(options.port, options.password, 'postgres');
    const client = new Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return client;
    } catch (error) {
      await client.end().catch(() => undefined);
      if (isRefusedLogin(error)) {
        // Another server may have the port: then ours is about to end, and its log says so.
        await delay(500);
        if (ended) throw failure('ended while starting', options.logFile);
        throw new AppError('configuration', 'The embedded PostgreSQL refuses the password kept under the home.');
      }
      if (Date.now() > deadline) throw failure('did not answer in time', options.logFile);
      await delay(50);
    }
  }
}

/** SQLSTATE class 28: another password than the one on file, or another server on this port. */
function isRefusedLogin(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' && code.startsWith('28');
}

function failure(what: string, logFile: string): AppError {
  return new AppError('unavailable', `PostgreSQL ${what}. The end of its log (${logFile}):\n${tailOfLog(logFile)}`);
}

function urlOf(port: number, password: string, database: string): string {
  return `postgresql://${SUPERUSER}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`;
}
