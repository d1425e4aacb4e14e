import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { Pool } from 'pg';
import { stringify } from 'yaml';
import { RECONCILE_SCHEDULE_ID } from '../../../contracts';
import type { FakeModel } from '../fake-model';
import { startFakeModel } from '../fake-model';
import type { TestServices } from '../services';
import { testServices } from '../services';
import { startPart } from './part';
import type { Part } from './part';

export interface ProductOptions {
  /** Keys of `config.yaml` beside the models, which all lead to the scripted model. */
  config?: Record<string, unknown>;
  workers?: number;
  apis?: number;
  env?: Record<string, string>;
  /** Servers of this test's own, for tests that kill them. */
  services?: TestServices;
  /** Names of models beside the two usual ones, for scripts that must not share a queue of replies. */
  models?: readonly string[];
  /** More keys for each model's entry. */
  modelKeys?: Record<string, unknown>;
}

/** The product as it runs in production: its real processes, on the servers of the test run, with a scripted model. */
export interface Product {
  model: FakeModel;
  workers: Part[];
  apis: Part[];
  /** Address of the first API process, without a trailing slash. */
  readonly url: string;
  home: string;
  databaseUrl: string;
  schema: string;
  pool: Pool;
  taskQueue: string;
  /** An operator's view of the workflows. */
  temporal: Client;
  startWorker(): Promise<Part>;
  startApi(): Promise<Part>;
  /** Runs the reconciler now instead of within its period. */
  reconcile(): Promise<void>;
  close(): Promise<void>;
}

const MODELS = ['scripted', 'scripted-two'];

export async function startProduct(options: ProductOptions = {}): Promise<Product> {
  const id = randomBytes(6).toString('hex');
  const { databaseUrl, temporalAddress } = options.services ?? testServices();
  const model = await startFakeModel();
  const home = await mkdtemp(join(tmpdir(), 'deer-flow-product-'));
  const configPath = join(home, 'config.yaml');
  await writeFile(configPath, stringify({ ...fastConfig(model.baseUrl, options), ...options.config }));
  const schema = `test_${id}`;
  const taskQueue = `test-${id}`;
  const env = {
    DATABASE_URL: databaseUrl,
    DEER_FLOW_DATABASE_SCHEMA: schema,
    TEMPORAL_ADDRESS: temporalAddress,
    DEER_FLOW_TASK_QUEUE: taskQueue,
    DEER_FLOW_HOME: home,
    DEER_FLOW_CONFIG_PATH: configPath,
    GATEWAY_HOST: '127.0.0.1',
    GATEWAY_PORT: '0',
    ...options.env,
  };
  const workers: Part[] = [];
  const apis: Part[] = [];
  const add = async (list: Part[], script: string): Promise<Part> => {
    const part = await startPart(script, env);
    list.push(part);
    return part;
  };
  const startWorker = () => add(workers, 'dist/workers/worker.js');
  const startApi = () => add(apis, 'dist/api/server.js');
  const started = await Promise.allSettled([
    ...Array.from({ length: options.workers ?? 1 }, startWorker),
    ...Array.from({ length: options.apis ?? 1 }, startApi),
  ]);
  const failed = started.find((result) => result.status === 'rejected');
  if (failed !== undefined) {
    await Promise.all([...workers, ...apis].map((part) => part.stop()));
    await model.close();
    throw failed.reason;
  }
  const pool = new Pool({ connectionString: databaseUrl, options: `-c search_path=${schema}`, max: 4 });
  // A server that a test kills breaks idle connections.
  pool.on('error', () => undefined);
  const connection = Connection.lazy({ address: temporalAddress });
  const temporal = new Client({ connection });
  const schedule = temporal.schedule.getHandle(`${RECONCILE_SCHEDULE_ID}-${taskQueue}`);
  return {
    model,
    workers,
    apis,
    home,
    databaseUrl,
    schema,
    pool,
    taskQueue,
    temporal,
    startWorker,
    startApi,
    reconcile: () => schedule.trigger(),
    get url() {
      return apis.find((api) => api.running)?.url ?? '';
    },
    async close() {
      await Promise.all([...workers, ...apis].map((part) => part.stop()));
      await model.close();
      // Nobody is left to do what it asks for.
      await schedule.delete().catch(() => undefined);
      await connection.close();
      await pool.query(`drop schema "${schema}" cascade`);
      await pool.end();
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** Short waits, so that a test of a failure takes no longer than it must. */
function fastConfig(baseUrl: string, { models = [], modelKeys = {} }: ProductOptions): Record<string, unknown> {
  return {
    models: [...MODELS, ...models].map((name) => ({
      name,
      display_name: name,
      use: 'langchain_openai:ChatOpenAI',
      model: name,
      api_key: 'test-key',
      base_url: baseUrl,
      ...modelKeys,
    })),
    llm_call: { retry_base_delay_ms: 20, retry_cap_delay_ms: 100, burst_retry_base_delay_ms: 20 },
    sandbox: { use: 'deerflow.sandbox.local:LocalSandboxProvider', allow_host_bash: true, bash_command_timeout: 20 },
  };
}
