/**
 * A PostgreSQL and a Temporal server as `npm start` runs them, with the settings of production: every commit is
 * written through. The product and the peers of a benchmark share them; each peer has a database of its own.
 */
import { Connection } from '@temporalio/client';
import { Client } from 'pg';
import { startServerPair } from '../tests/support/services';

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
  const pair = await startServerPair(postgresSettings);
  try {
    const { databaseUrl, temporalAddress } = pair;
    return {
      ...pair,
      versions: { postgres: await postgresVersion(databaseUrl), temporal: await temporalVersion(temporalAddress) },
      createDatabase: (name) => createDatabase(databaseUrl, name),
      close: () => pair.stop(),
    };
  } catch (error) {
    await pair.stop();
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
