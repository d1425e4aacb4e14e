/** The product as it runs in production: its real processes from the build, on the servers of the benchmark. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { Pool } from 'pg';
import { stringify } from 'yaml';
import { ask, createApiClient } from '../tests/support/product/client';
import type { ApiClient } from '../tests/support/product/client';
import { startPart } from '../tests/support/product/part';
import type { Part } from '../tests/support/product/part';
import type { Referee } from './referee';
import type { Servers } from './servers';

export interface SystemOptions {
  servers: Servers;
  referee: Referee;
  /** Processes of each kind; one unless said otherwise. */
  workers?: number;
  apis?: number;
  /** Keys of `config.yaml` beside the model and the recursion limit. */
  config?: Record<string, unknown>;
  env?: Record<string, string>;
}

export interface System {
  readonly servers: Servers;
  /** Address of the first API process that runs, without a trailing slash. */
  readonly url: string;
  readonly api: ApiClient;
  readonly workers: Part[];
  readonly apis: Part[];
  /** The database of the product. */
  readonly pool: Pool;
  readonly schema: string;
  readonly temporal: Client;
  readonly taskQueue: string;
  readonly home: string;
  /** The processes that work for a run, by their kind: for `cpuSeconds` and `treeBytes`. */
  pids(): Record<'api' | 'worker' | 'postgres' | 'temporal', number[]>;
  startWorker(): Promise<Part>;
  startApi(): Promise<Part>;
  close(): Promise<void>;
}

/** Far above every plan of a benchmark. */
const RECURSION_LIMIT = 10_000;

/** Starts the product and makes one run of two turns, so that nothing measured later is a first time. */
export async function startSystem(options: SystemOptions): Promise<System> {
  const { servers, referee } = options;
  const id = randomBytes(4).toString('hex');
  const home = await mkdtemp(join(tmpdir(), 'deer-flow-bench-home-'));
  const configPath = join(home, 'config.yaml');
  await writeFile(configPath, stringify({ ...configuration(referee.baseUrl), ...options.config }));
  const schema = `bench_${id}`;
  const taskQueue = `bench-${id}`;
  const env = {
    DATABASE_URL: servers.databaseUrl,
    DEER_FLOW_DATABASE_SCHEMA: schema,
    TEMPORAL_ADDRESS: servers.temporalAddress,
    DEER_FLOW_TASK_QUEUE: taskQueue,
    DEER_FLOW_HOME: home,
    DEER_FLOW_CONFIG_PATH: configPath,
    GATEWAY_HOST: '127.0.0.1',
    GATEWAY_PORT: '0',
    NODE_ENV: 'production',
    ...options.env,
  };
  const workers: Part[] = [];
  const apis: Part[] = [];
  const starting = new Set<Promise<Part>>();
  const add = (list: Part[], script: string): Promise<Part> => {
    const begun = startPart(script, env).then((part) => {
      list.push(part);
      return part;
    });
    starting.add(begun);
    const forget = (): void => void starting.delete(begun);
    begun.then(forget, forget);
    return begun;
  };
  const startWorker = () => add(workers, 'dist/workers/worker.js');
  const startApi = () => add(apis, 'dist/api/server.js');

  const pool = new Pool({ connectionString: servers.databaseUrl, options: `-c search_path=${schema}`, max: 4 });
  // Benchmarks may stop the server while connections are idle.
  pool.on('error', () => undefined);
  const connection = Connection.lazy({ address: servers.temporalAddress });
  const url = () => apis.find((api) => api.running)?.url ?? '';
  const system: System = {
    servers,
    api: createApiClient(url),
    workers,
    apis,
    pool,
    schema,
    temporal: new Client({ connection }),
    taskQueue,
    home,
    startWorker,
    startApi,
    get url() {
      return url();
    },
    pids: () => ({
      api: pidsOf(apis),
      worker: pidsOf(workers),
      postgres: [servers.postgresPid],
      temporal: [servers.temporalPid],
    }),
    async close() {
      // Nothing is stopped before it has begun.
      await Promise.allSettled(starting);
      await Promise.all([...workers, ...apis].map((part) => part.stop()));
      await connection.close();
      await pool.end();
      await rm(home, { recursive: true, force: true });
    },
  };
  try {
    // One after the other: the first creates the schema.
    for (let count = 0; count < (options.workers ?? 1); count += 1) await startWorker();
    for (let count = 0; count < (options.apis ?? 1); count += 1) await startApi();
    await warmUp(system.api);
  } catch (error) {
    await system.close();
    throw error;
  }
  return system;
}

function pidsOf(parts: readonly Part[]): number[] {
  return parts.filter((part) => part.running).map((part) => part.pid);
}

async function warmUp(api: ApiClient): Promise<void> {
  const body = ask('PLAN:tools=1 tool=ls tokens=1', { stream_mode: ['updates'] });
  const { frames } = await api.stream({ path: '/api/runs/stream', body, until: ({ event }) => event === 'end' });
  const last = frames.at(-1);
  if (last?.event !== 'end' || frames.some(({ event }) => event === 'error')) {
    throw new Error(`The product did not make its first run: ${JSON.stringify(frames.slice(-3))}`);
  }
}

function configuration(baseUrl: string): Record<string, unknown> {
  return {
    models: [
      {
        name: 'referee',
        display_name: 'referee',
        use: 'langchain_openai:ChatOpenAI',
        model: 'referee',
        api_key: 'no-secret',
        base_url: baseUrl,
      },
    ],
    recursion_limit: RECURSION_LIMIT,
    log_level: 'warn',
    sandbox: { use: 'deerflow.sandbox.local:LocalSandboxProvider', allow_host_bash: true },
  };
}
