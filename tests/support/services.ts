/**
 * One PostgreSQL and one Temporal server for all tests of a run, started by the code that `npm start` uses, on free
 * ports, with data in a temporary folder.
 */
import { mkdtempSync, rmSync, chmodSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { choosePorts } from '../../workers/stack/ports';
import { startPostgres } from '../../workers/stack/postgres/postgres-server';
import { createProgress } from '../../workers/stack/progress';
import { findInstallation } from '../../workers/stack/project-root';
import { findTemporal } from '../../workers/stack/temporal-binary/find-temporal';
import { startTemporal } from '../../workers/stack/temporal-server';

export interface TestServices {
  databaseUrl: string;
  temporalAddress: string;
}

export interface StartedServices extends TestServices {
  stop(): Promise<void>;
}

/** The servers that the run started. Throws where it started none: a test must not pass for want of a server. */
export function testServices(): TestServices {
  const { TEST_DATABASE_URL: databaseUrl, TEST_TEMPORAL_ADDRESS: temporalAddress } = process.env;
  if (!databaseUrl || !temporalAddress) {
    throw new Error('This test needs PostgreSQL and Temporal: run it with the default jest configuration.');
  }
  return { databaseUrl, temporalAddress };
}

/** Where the Temporal CLI is cached for tests: the same place as for `npm start`. */
export function testCacheDirectories(): string[] {
  const shared = process.env.DEER_FLOW_CACHE_DIR;
  return [...(shared ? [shared] : []), join(findInstallation(), '.cache')];
}

export function findTestTemporal(): Promise<string> {
  return findTemporal({
    named: process.env.DEER_FLOW_TEMPORAL_BIN,
    env: process.env,
    cacheDirectories: testCacheDirectories(),
    progress: createProgress(process.stderr),
  });
}

export interface ServerPair extends StartedServices {
  postgresPid: number;
  temporalPid: number;
  /** Where Temporal keeps its data. */
  temporalDatabaseFile: string;
}

/** A PostgreSQL with these settings beside those of `npm start`, and a Temporal server, in a new temporary folder. */
export async function startServerPair(postgresSettings: Readonly<Record<string, string>> = {}): Promise<ServerPair> {
  const directory = mkdtempSync(join(tmpdir(), 'deer-flow-services-'));
  chmodSync(directory, 0o755);
  const started: { stop(mode: 'drain' | 'now'): Promise<void> }[] = [];
  const stop = async () => {
    await Promise.all(started.map((server) => server.stop('drain')));
    rmSync(directory, { recursive: true, force: true });
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
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The data lives for one run of the tests: losing it in a crash of the machine costs nothing. */
export function startTestServices(): Promise<ServerPair> {
  return startServerPair({ fsync: 'off', full_page_writes: 'off' });
}
