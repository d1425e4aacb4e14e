/** The API on a port of its own, over a schema of its own, with a gateway that only notes what it is told. */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApp } from '../../api/app';
import type { ApiDependencies, ApiSettings } from '../../api/dependencies';
import { createManagedModels } from '../../api/managed-models';
import type { Identify } from '../../api/middleware/identity';
import { createRunFeeds } from '../../api/sse/run-feeds';
import { openLiveExtensions } from '../../config';
import { configSchema } from '../../contracts/schemas/config';
import { MANAGED_MODELS_CHANNEL, createListener } from '../../db';
import type { Stores } from '../../db';
import { createSilentLogger } from '../../observability';
import type { CancelAction } from '../../contracts';
import type { RunGateway } from '../../temporal';
import { openTestDatabase } from './test-database';
import type { TestDatabase } from './test-database';

export interface NotedGateway extends RunGateway {
  started: string[];
  cancelled: Array<{ runId: string; action: CancelAction }>;
  /** What the next calls reject with, as while Temporal is away. */
  failWith: Error | null;
}

export interface ApiHarness {
  url: string;
  stores: Stores;
  database: TestDatabase;
  gateway: NotedGateway;
  deps: ApiDependencies;
  home: string;
  request(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** A second API process over the same database. */
  another(): Promise<{ url: string; close(): Promise<void> }>;
  /** Begins the shutdown that a SIGTERM begins. */
  beginShutdown(): void;
  close(): Promise<void>;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** The parsed body; undefined where there is none. */
  body: unknown;
}

export interface HarnessOptions {
  config?: Record<string, unknown>;
  settings?: Partial<ApiSettings>;
  /** Variables that the extensions file may name. */
  env?: Record<string, string>;
}

/** The user of a request and the role, by headers of the tests. */
const identify: Identify = (request) => {
  const owner = request.get('x-test-owner') ?? 'alice';
  const role = request.get('x-test-role') === 'user' ? 'user' : 'admin';
  return owner === 'nobody' ? null : { owner, email: `${owner}@example.com`, role };
};

export async function startApiHarness(options: HarnessOptions = {}): Promise<ApiHarness> {
  const database = await openTestDatabase();
  const home = await mkdtemp(join(tmpdir(), 'deer-flow-api-'));
  const gateway = createNotedGateway();
  const shutdown = new AbortController();
  const instances = [await startInstance({ database, home, gateway, shutdown, options })];
  const [first] = instances;
  if (first === undefined) throw new Error('The API did not start.');

  return {
    url: first.url,
    stores: database.stores,
    database,
    gateway,
    deps: first.deps,
    home,
    request: (method, path, body, headers) => send(first.url + path, method, body, headers),
    async another() {
      const instance = await startInstance({ database, home, gateway, shutdown: new AbortController(), options });
      return { url: instance.url, close: () => instance.close() };
    },
    beginShutdown: () => shutdown.abort(),
    async close() {
      await Promise.all(instances.map((instance) => instance.close()));
      await database.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}

interface InstanceParts {
  database: TestDatabase;
  home: string;
  gateway: RunGateway;
  shutdown: AbortController;
  options: HarnessOptions;
}

async function startInstance({ database, home, gateway, shutdown, options }: InstanceParts) {
  const { stores } = database;
  const listener = createListener(database.database, 'run_events', MANAGED_MODELS_CHANNEL);
  const config = configSchema.parse(options.config ?? {});
  const overrides = () => config.extensions;
  const log = createSilentLogger();
  const feeds = createRunFeeds({ stores, listener, log });
  const managedModels = await createManagedModels({
    environment: { home, credentialKeys: null },
    stores,
    listener,
    fileConfig: () => config,
    log,
  });
  const deps: ApiDependencies = {
    config: () => managedModels.config(),
    configFault: () => null,
    settings: { home, docsEnabled: true, corsOrigins: [], mcpCommands: [], heartbeatMs: 10_000, ...options.settings },
    extensions: openLiveExtensions({ location: { env: options.env ?? {}, cwd: home }, overrides, log }),
    stores,
    managedModels,
    gateway,
    feeds,
    listener,
    temporalReachable: () => Promise.resolve(true),
    shutdown: shutdown.signal,
    log,
  };
  const server = createServer(createApp(deps, { identify }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    deps,
    async close() {
      await closeServer(server);
      feeds.close();
      managedModels.close();
      await listener.close();
    },
  };
}

async function closeServer(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function createNotedGateway(): NotedGateway {
  const gateway: NotedGateway = {
    started: [],
    cancelled: [],
    failWith: null,
    async start(run) {
      if (gateway.failWith !== null) throw gateway.failWith;
      gateway.started.push(run.runId);
    },
    async cancel({ runId }, action) {
      if (gateway.failWith !== null) throw gateway.failWith;
      gateway.cancelled.push({ runId, action });
    },
    state: () => Promise.resolve('running'),
  };
  return gateway;
}

/** Text is sent as it is, anything else as JSON. */
async function send(
  url: string,
  method: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
