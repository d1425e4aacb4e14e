/** The Temporal development server of a stack, with its data in a file. */
import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { AppError, SEARCH_ATTRIBUTES } from '../../contracts';
import { launchServer, type RunningProcess } from './launch';
import { tailOfLog } from './log-file';
import type { ProcessRecords } from './process-records';
import { temporalEnvironment } from './temporal-binary/environment';

export interface TemporalOptions {
  executable: string;
  databaseFile: string;
  logFile: string;
  port: number;
  uiPort: number;
  env: NodeJS.ProcessEnv;
  records?: ProcessRecords;
  signal?: AbortSignal;
}

export interface TemporalServer extends RunningProcess {
  address: string;
}

const START_LIMIT_MS = 60_000;
const CONNECT_LIMIT_MS = 1_000;
const POLL_MS = 20;

/**
 * A history shard reads its queues at most 20 times a second unless told otherwise, which makes every step of a run
 * wait for the next 50 ms tick. One partition is right for one small server.
 */
const DYNAMIC_CONFIG: Readonly<Record<string, number | boolean>> = {
  'history.transferProcessorMaxPollRPS': 2000,
  'history.timerProcessorMaxPollRPS': 2000,
  'history.visibilityProcessorMaxPollRPS': 2000,
  'system.enableActivityEagerExecution': true,
  'matching.enableFairness': true,
  'matching.numTaskqueueReadPartitions': 1,
  'matching.numTaskqueueWritePartitions': 1,
};

/** Write-ahead logging halves the time of a durable step; a crash of the machine loses at most the last moments. */
const PRAGMAS = ['journal_mode=wal', 'synchronous=normal'];

/** Starts the server and returns when it takes requests. */
export async function startTemporal(options: TemporalOptions): Promise<TemporalServer> {
  mkdirSync(dirname(options.databaseFile), { recursive: true });
  const server = await launchServer({
    name: 'Temporal',
    command: options.executable,
    args: serverArguments(options),
    env: temporalEnvironment(options.env),
    logFile: options.logFile,
    records: options.records,
    stopSignal: 'SIGTERM',
    urgentSignal: 'SIGKILL',
    drainMs: 15_000,
  });
  const address = `127.0.0.1:${options.port}`;
  try {
    await waitUntilReady(server, address, options);
  } catch (error) {
    await server.stop('now');
    throw error;
  }
  return { ...server, address };
}

function serverArguments(options: TemporalOptions): string[] {
  return [
    ...['server', 'start-dev', '--ip', '127.0.0.1', '--log-level', 'warn'],
    ...['--port', String(options.port), '--ui-port', String(options.uiPort)],
    ...['--db-filename', options.databaseFile],
    ...PRAGMAS.flatMap((pragma) => ['--sqlite-pragma', pragma]),
    ...Object.entries(DYNAMIC_CONFIG).flatMap(([key, value]) => ['--dynamic-config-value', `${key}=${value}`]),
    ...Object.values(SEARCH_ATTRIBUTES).flatMap((name) => ['--search-attribute', `${name}=Keyword`]),
  ];
}

async function waitUntilReady(server: RunningProcess, address: string, options: TemporalOptions): Promise<void> {
  let ended = false;
  void server.exited.then(() => (ended = true));
  const deadline = Date.now() + START_LIMIT_MS;
  for (;;) {
    options.signal?.throwIfAborted();
    if (ended) throw failure('ended while starting', options.logFile);
    // A channel that meets a closed port pauses for a second before it looks again.
    if ((await acceptsConnections(options.port)) && (await answers(address))) return;
    if (Date.now() > deadline) throw failure('did not answer in time', options.logFile);
    await delay(POLL_MS);
  }
}

function acceptsConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const settle = (accepted: boolean) => {
      socket.destroy();
      resolve(accepted);
    };
    socket.setTimeout(CONNECT_LIMIT_MS, () => settle(false));
    socket.once('connect', () => settle(true));
    socket.once('error', () => settle(false));
  });
}

async function answers(address: string): Promise<boolean> {
  let connection: Connection | undefined;
  try {
    connection = await Connection.connect({ address, connectTimeout: CONNECT_LIMIT_MS });
    const { workflowService } = connection;
    const namespace = 'default';
    await connection.withDeadline(Date.now() + 2_000, () => workflowService.describeNamespace({ namespace }));
    return true;
  } catch {
    return false;
  } finally {
    await connection?.close();
  }
}

function failure(what: string, logFile: string): AppError {
  return new AppError('unavailable', `Temporal ${what}. The end of its log (${logFile}):\n${tailOfLog(logFile)}`);
}
