import { setMaxListeners } from 'node:events';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Environment, LiveConfig, LiveExtensions } from '../config';
import { deploymentKey, prepareCredentialKey } from '../config';
import { AppError } from '../contracts';
import type { Database } from '../db';
import {
  MANAGED_MODELS_CHANNEL,
  createDatabase,
  createListener,
  createStores,
  isDatabaseUnavailable,
  migrate,
} from '../db';
import type { Logger } from '../observability';
import { boundedGateway, createRunGateway, openTemporal } from '../temporal';
import { createApp } from './app';
import { removeStaleUploads } from './files/stale-uploads';
import type { ApiDependencies } from './dependencies';
import { createManagedModels } from './managed-models';
import { localUser } from './middleware/identity';
import { createRunFeeds } from './sse/run-feeds';

export interface ApiOptions {
  environment: Environment;
  live: LiveConfig;
  extensions: LiveExtensions;
  log: Logger;
}

export interface RunningApi {
  port: number;
  /** Answers what is under way, breaks open streams off so that their readers reconnect, and closes everything. */
  stop(): Promise<void>;
}

const MAX_CONNECTIONS = 20;
const DATABASE_PATIENCE_MS = 60_000;
const DATABASE_RETRY_MS = 1_000;
const HEARTBEAT_MS = 10_000;
/** Time that plain requests get to finish after the stop. */
const DRAIN_MS = 5_000;
const RUN_EVENTS_CHANNEL = 'run_events';
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/;

/** The composition root of an API process. */
export async function startApi({ environment, live, extensions, log }: ApiOptions): Promise<RunningApi> {
  const { database: databaseSettings, gateway, temporal: temporalSettings } = environment;
  refuseOpenHost(gateway.host);
  if (databaseSettings.url === null) throw new AppError('configuration', 'DATABASE_URL: expected a PostgreSQL address');
  if (temporalSettings.address === null) throw new AppError('configuration', 'TEMPORAL_ADDRESS: expected host:port');

  const database = createDatabase({
    url: databaseSettings.url,
    schema: databaseSettings.schema,
    maxConnections: MAX_CONNECTIONS,
    applicationName: 'deerflow api',
    onError: (error) => log.warn({ err: error }, 'a database connection broke'),
  });
  await migrateWhenReachable(database, log);
  const stores = createStores(database, await deploymentKey(environment.home));
  if (live.current().config.channel_connections.enabled) {
    await prepareCredentialKey({ keys: environment.credentialKeys, home: environment.home });
  }
  const listener = createListener(database, RUN_EVENTS_CHANNEL, MANAGED_MODELS_CHANNEL);
  const managedModels = await createManagedModels({
    environment,
    stores,
    listener,
    fileConfig: () => live.current().config,
    log,
  });
  const temporal = openTemporal({ address: temporalSettings.address, namespace: temporalSettings.namespace });
  const shutdown = new AbortController();
  // Every open stream waits for it.
  setMaxListeners(0, shutdown.signal);
  const deps: ApiDependencies = {
    config: () => managedModels.config(),
    configFault: () => live.fault(),
    extensions,
    settings: {
      home: environment.home,
      docsEnabled: gateway.docsEnabled,
      corsOrigins: gateway.corsOrigins,
      mcpCommands: environment.mcpCommands,
      heartbeatMs: HEARTBEAT_MS,
    },
    stores,
    managedModels,
    gateway: boundedGateway(temporal, createRunGateway(temporal.client, temporalSettings.taskQueue)),
    feeds: createRunFeeds({ stores, listener, log }),
    listener,
    temporalReachable: (timeoutMs) => temporal.isReachable(timeoutMs),
    shutdown: shutdown.signal,
    log,
  };

  void cleanUploads(environment.home, shutdown.signal, log);
  const server = createServer(createApp(deps, { identify: localUser }));
  const port = await listen(server, gateway);
  log.info({ host: gateway.host, port }, 'API listens');
  return {
    port,
    async stop() {
      const closed = closeServer(server);
      shutdown.abort();
      await closed;
      deps.feeds.close();
      managedModels.close();
      await listener.close();
      await temporal.close();
      await database.close();
    },
  };
}

/** Parts of uploads whose process died; a home with many threads must not delay the start. */
async function cleanUploads(home: string, signal: AbortSignal, log: Logger): Promise<void> {
  try {
    const removed = await removeStaleUploads(home, { signal });
    if (removed > 0) log.info({ removed }, 'unfinished uploads were removed');
  } catch (error) {
    if (!signal.aborted) log.warn({ err: error }, 'unfinished uploads could not be removed');
  }
}

/** Whoever reaches the port is the administrator, so only this machine may reach it. */
function refuseOpenHost(host: string): void {
  if (LOOPBACK.test(host)) return;
  const reason = 'there are no accounts yet, so only a loopback address is allowed (127.0.0.1, ::1, localhost)';
  throw new AppError('configuration', `GATEWAY_HOST=${host}: ${reason}`);
}

async function migrateWhenReachable(database: Database, log: Logger): Promise<void> {
  const deadline = Date.now() + DATABASE_PATIENCE_MS;
  for (;;) {
    try {
      const applied = await migrate(database);
      if (applied.length > 0) log.info({ applied }, 'the database schema was brought up to date');
      return;
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
      if (Date.now() > deadline) {
        throw new AppError('unavailable', 'PostgreSQL (DATABASE_URL) did not answer within a minute', { cause: error });
      }
      log.warn({ err: error }, 'PostgreSQL does not answer yet; trying again');
      await delay(DATABASE_RETRY_MS);
    }
  }
}

async function listen(server: Server, { host, port }: { host: string; port: number }): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') return reject(error);
      const hint = 'stop what uses it or choose another with GATEWAY_PORT';
      reject(new AppError('configuration', `Port ${port} on ${host} is taken: ${hint}`, { cause: error }));
    });
    server.listen(port, host, resolve);
  });
  return (server.address() as AddressInfo).port;
}

async function closeServer(server: Server): Promise<void> {
  const timer = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
  clearTimeout(timer);
}
