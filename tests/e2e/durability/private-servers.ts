/** A PostgreSQL and a Temporal server of a test's own, which it may kill and start again on the same ports and data. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { RunningProcess } from '../../../workers/stack/launch';
import { choosePorts } from '../../../workers/stack/ports';
import { postgresUrl, startPostgres } from '../../../workers/stack/postgres/postgres-server';
import { startTemporal } from '../../../workers/stack/temporal-server';
import type { TestServices } from '../../support/services';
import { findTestTemporal } from '../../support/services';
import { readFile } from 'node:fs/promises';

export interface KillableServer {
  /** 0 while it is away. */
  readonly pid: number;
  /** Sends a signal that ends it, and waits until the process is gone. */
  end(signal: NodeJS.Signals): Promise<void>;
  /** The same with SIGKILL. */
  kill(): Promise<void>;
  /** Starts it again with what it had, unless it runs. */
  start(): Promise<void>;
}

export interface PrivateServers extends TestServices {
  postgres: KillableServer;
  temporal: KillableServer;
  /** Folder of their data and logs. */
  directory: string;
  postgresDirectory: string;
  close(): Promise<void>;
}

const START_LIMIT_MS = 30_000;

export interface PrivateServersOptions {
  /** Where PostgreSQL keeps its data instead of beside everything else. */
  postgresDirectory?: string;
  postgresSettings?: Readonly<Record<string, string>>;
}

export async function startPrivateServers(options: PrivateServersOptions = {}): Promise<PrivateServers> {
  const directory = mkdtempSync(join(tmpdir(), 'deer-flow-servers-'));
  chmodSync(directory, 0o755);
  const executable = await findTestTemporal();
  const [port = 0, temporalPort = 0, uiPort = 0] = await choosePorts(
    ['PostgreSQL', 'Temporal', 'the Temporal UI'].map((purpose) => ({ purpose, remedy: '' })),
  );
  const postgresDirectory = options.postgresDirectory ?? join(directory, 'postgres');
  const postgres = killable(() =>
    startPostgres({
      directory: postgresDirectory,
      logFile: join(directory, 'postgres.log'),
      port,
      // What the operating system has is safe from the death of a process; only a crash of the machine needs fsync.
      settings: { fsync: 'off', ...options.postgresSettings },
    }),
  );
  const temporal = killable(() =>
    startTemporal({
      executable,
      databaseFile: join(directory, 'temporal.db'),
      logFile: join(directory, 'temporal.log'),
      port: temporalPort,
      uiPort,
      env: process.env,
    }),
  );
  await Promise.all([postgres.start(), temporal.start()]);
  const password = (await readFile(join(postgresDirectory, 'password'), 'utf8')).trim();
  return {
    databaseUrl: postgresUrl(port, password),
    temporalAddress: `127.0.0.1:${temporalPort}`,
    postgres,
    temporal,
    directory,
    postgresDirectory,
    async close() {
      await Promise.all([postgres.stop(), temporal.stop()]);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function killable(launch: () => Promise<RunningProcess>): KillableServer & { stop(): Promise<void> } {
  let running: RunningProcess | null = null;
  async function end(signal: NodeJS.Signals): Promise<void> {
    const victim = running;
    running = null;
    if (victim === null) return;
    process.kill(victim.pid, signal);
    await victim.exited;
  }
  return {
    get pid() {
      return running?.pid ?? 0;
    },
    end,
    kill: () => end('SIGKILL'),
    async start() {
      const deadline = Date.now() + START_LIMIT_MS;
      while (running === null) {
        // For a moment the children of a killed server hold its memory and its port.
        const started = await launch().catch(async (error: unknown) => {
          if (Date.now() > deadline) throw error;
          await delay(200);
          return null;
        });
        running = started;
        // It may end of itself.
        void started?.exited.then(() => (running = running === started ? null : running));
      }
    },
    async stop() {
      await running?.stop('now');
    },
  };
}
