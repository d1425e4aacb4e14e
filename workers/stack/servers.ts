/** The two servers of a stack: given ones are used as they are, the others are started and kept running. */
import { Connection } from '@temporalio/client';
import { Client } from 'pg';
import { AppError } from '../../contracts';
import { homePaths } from './home';
import type { StackOptions } from './options';
import { startPostgres, type PostgresServer } from './postgres/postgres-server';
import type { ProcessRecords } from './process-records';
import type { Progress } from './progress';
import type { ServerPorts } from './stack-ports';
import type { Service } from './supervisor';
import { findTemporal } from './temporal-binary/find-temporal';
import { startTemporal } from './temporal-server';

export interface ServerContext {
  options: StackOptions;
  records: ProcessRecords;
  progress: Progress;
  signal: AbortSignal;
}

/** The embedded PostgreSQL. `onUrl` hears the address, which is the same after every restart. */
export function postgresService(context: ServerContext, ports: ServerPorts, onUrl: (url: string) => void): Service {
  const paths = homePaths(context.options.home);
  return {
    name: 'PostgreSQL',
    async start(signal) {
      const server: PostgresServer = await startPostgres({
        directory: paths.postgres,
        logFile: paths.log('postgres'),
        port: ports.postgres,
        records: context.records,
        signal,
      });
      onUrl(server.url);
      return server;
    },
  };
}

export async function temporalService(context: ServerContext, ports: ServerPorts): Promise<Service> {
  const { options, records, progress, signal } = context;
  const paths = homePaths(options.home);
  const executable = await findTemporal({
    named: options.environment.temporal.binary ?? undefined,
    env: options.env,
    cacheDirectories: options.cacheDirectories,
    progress,
    signal,
  });
  return {
    name: 'Temporal',
    start: (startSignal) =>
      startTemporal({
        port: ports.temporal,
        uiPort: ports.temporalUi,
        executable,
        databaseFile: paths.temporalDatabase,
        logFile: paths.log('temporal'),
        env: options.env,
        records,
        signal: startSignal,
      }),
  };
}

/** Says at once what a worker would say much later. */
export async function checkDatabase(url: string): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (cause) {
    const reason = (cause as { code?: string }).code ?? 'no answer';
    throw new AppError('unavailable', `The database that DATABASE_URL names cannot be used (${reason}).`, { cause });
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** The same for the Temporal server; its namespace is prepared by the worker. */
export async function checkTemporal(address: string): Promise<void> {
  const connection = await Connection.connect({ address, connectTimeout: 10_000 }).catch((cause: unknown) => {
    throw new AppError('unavailable', `The Temporal server at ${address} (TEMPORAL_ADDRESS) does not answer.`, {
      cause,
    });
  });
  await connection.close();
}
