/**
 * A PostgreSQL and a Temporal server as `npm start` runs them, with the settings of production: every commit is
 * written through. The product and the peers of a benchmark share them; each peer has a database of its own.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { Client } from 'pg';
import { findTestTemporal } from '../tests/support/services';
import { choosePorts } from '../workers/stack/ports';
import { startPostgres } from '../workers/stack/postgres/postgres-server';
import { startTemporal } from '../workers/stack/temporal-server';
import type { StopMode } from '../workers/stack/launch';

export interface ServersOptions {
  /** Settings of PostgreSQL beside those of `npm start`, such as more connections for many clients. */
  postgresSettings?: Readonly<Record<string, string>>;
}

export interface Servers {
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  readonly postgresPid: number;
  readonly temporalPid: number;
  /** Where Temporal keeps its data. */
  readonly temporalDatabaseFile: string;
  readonly versions: { postgres: string; temporal: string };
  /** A new, empty database on the same server. Gives back its address. */
  createDatabase(name: string): Promise<string>;
  close(): Promise<void>;
}

export async function startServers({ postgresSettings }: ServersOptions = {}): Promise<Servers> {
  const directory = await mkdtemp(join(tmpdir(), 'deer-flow-bench-servers-'));
  await chmod(directory, 0o755);
  const started: { stop(mode: StopMode): Promise<void> }[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(started.map((server) => server.stop('drain')));
    await rm(directory, { recursive: true, force: true });
  };
  try {
    const executable = await findTestTemporal();
    const [databasePort = 0, temporalPort = 0, uiPort = 0] = await choosePorts(
      ['PostgreSQL', 'Temporal', 'the Temporal UI'].map((purpose) => ({ purpose, remedy: '' })),
    );
    const postgres = await startPostgres({
      directory: join(directory, 'postgres'),
      logFile: join(directory, 'postgres.log'),
      port: databasePort,
      settings: postgresSettings,
    });
    started.push(postgres);
    const temporalDatabaseFile = join(directory, 'temporal.db');
    const temporal = await startTemporal({
      executable,
      databaseFile: temporalDatabaseFile,
      logFile: join(directory, 'temporal.log'),
      port: temporalPort,
      uiPort,
      env: process.env,
    });
    started.push(temporal);
    return {
      databaseUrl: postgres.url,
      temporalAddress: temporal.address,
      postgresPid: postgres.pid,
      temporalPid: temporal.pid,
      temporalDatabaseFile,
      versions: {
        postgres: await postgresVersion(postgres.url),
        temporal: await temporalVersion(temporal.address),
      },
      createDatabase: (name) => createDatabase(postgres.url, name),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function postgresVersion(url: string): Promise<string> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ server_version: string }>('show server_version');
    return rows[0]?.server_version ?? 'unknown';
  });
}

async function temporalVersion(address: string): Promise<string> {
  const connection = await Connection.connect({ address });
  try {
    return (await connection.workflowService.getSystemInfo({})).serverVersion;
  } finally {
    await connection.close();
  }
}

async function createDatabase(serverUrl: string, name: string): Promise<string> {
  if (!/^[a-z][a-z0-9_]*$/.test(name)) throw new Error(`"${name}" cannot be the name of a database.`);
  await withClient(serverUrl, async (client) => {
    await client.query(`drop database if exists ${name} with (force)`);
    await client.query(`create database ${name}`);
  });
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.toString();
}

async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
