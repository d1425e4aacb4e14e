/**
 * The product under fault: two workers, two APIs, a PostgreSQL, a Temporal server and the scripted model, each a process
 * of its own, with a link on every line between them.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { Pool } from 'pg';
import { stringify } from 'yaml';
import { RECONCILE_SCHEDULE_ID } from '../../../contracts';
import type { PrivateServers, PrivateServersOptions } from '../../e2e/durability/private-servers';
import { startPrivateServers } from '../../e2e/durability/private-servers';
import type { Disturbance } from '../checker';
import { createPoints } from '../links/points';
import { startPostgresLink } from '../links/postgres-link';
import { startTcpLink } from '../links/tcp-link';
import { startTemporalLink } from '../links/temporal-link';
import type { RunningModel } from './model';
import { startModel } from './model';
import type { Slot, SlotKind } from './slot';
import { createSlot } from './slot';

export interface Cluster {
  workers: Slot[];
  apis: Slot[];
  readonly slots: Slot[];
  servers: PrivateServers;
  home: string;
  modelJournal: string;
  /** Not through a link. */
  pool: Pool;
  temporal: Client;
  /** Processes that are alive on purpose. */
  readonly processes: number[];
  disturbances: Disturbance[];
  /** Runs the reconciler now. */
  reconcile(): Promise<void>;
  close(): Promise<void>;
}

export interface ClusterOptions extends PrivateServersOptions {
  workers?: number;
  apis?: number;
}

const SCHEMA = 'faults';

export async function startCluster({ workers = 2, apis = 2, ...servers }: ClusterOptions = {}): Promise<Cluster> {
  const home = await mkdtemp(join(tmpdir(), 'deer-flow-faults-'));
  const modelJournal = join(home, 'model.jsonl');
  const [privateServers, model] = await Promise.all([startPrivateServers(servers), startModel(modelJournal)]);
  const disturbances: Disturbance[] = [];
  const taskQueue = `faults-${randomBytes(4).toString('hex')}`;
  const place = { home, taskQueue, servers: privateServers, model, disturbances };
  const slots = await Promise.all([
    ...Array.from({ length: workers }, (_, index) => openSlot('worker', `worker-${index + 1}`, place)),
    ...Array.from({ length: apis }, (_, index) => openSlot('api', `api-${index + 1}`, place)),
  ]);
  await Promise.all(slots.map((slot) => slot.start()));

  const pool = new Pool({ connectionString: privateServers.databaseUrl, options: `-c search_path=${SCHEMA}`, max: 4 });
  pool.on('error', () => undefined);
  const connection = Connection.lazy({ address: privateServers.temporalAddress });
  const temporal = new Client({ connection });
  return {
    workers: slots.filter(({ kind }) => kind === 'worker'),
    apis: slots.filter(({ kind }) => kind === 'api'),
    slots,
    servers: privateServers,
    home,
    modelJournal,
    pool,
    temporal,
    disturbances,
    get processes() {
      return [process.pid, model.pid, ...slots.map(({ pid }) => pid)];
    },
    reconcile: () => temporal.schedule.getHandle(`${RECONCILE_SCHEDULE_ID}-${taskQueue}`).trigger(),
    async close() {
      await Promise.all(slots.map((slot) => slot.close()));
      await Promise.all([model.close(), pool.end(), connection.close()]);
      await privateServers.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}

interface Place {
  home: string;
  taskQueue: string;
  servers: PrivateServers;
  model: RunningModel;
  disturbances: Disturbance[];
}

/** A process of the product with links and a configuration of its own, not yet started. */
async function openSlot(kind: SlotKind, name: string, place: Place): Promise<Slot> {
  const points = createPoints(name);
  const { databaseUrl, temporalAddress } = place.servers;
  let port: () => number = () => 0;
  const [postgres, temporal, model, clients] = await Promise.all([
    startPostgresLink(() => Number(new URL(databaseUrl).port), points),
    startTemporalLink(() => Number(temporalAddress.split(':')[1]), points),
    startTcpLink({ targetPort: () => place.model.port }),
    startTcpLink({ targetPort: () => port() }),
  ]);
  const configPath = join(place.home, `${name}.yaml`);
  await writeFile(configPath, stringify(configuration()));
  const database = new URL(databaseUrl);
  database.port = String(postgres.port);
  const env = {
    DATABASE_URL: database.href,
    DEER_FLOW_DATABASE_SCHEMA: SCHEMA,
    TEMPORAL_ADDRESS: `127.0.0.1:${temporal.port}`,
    DEER_FLOW_TASK_QUEUE: place.taskQueue,
    DEER_FLOW_HOME: place.home,
    DEER_FLOW_CONFIG_PATH: configPath,
    GATEWAY_HOST: '127.0.0.1',
    GATEWAY_PORT: '0',
    // Each process has a line of its own to the model, and all have one configuration.
    FAULT_MODEL_URL: `http://127.0.0.1:${model.port}/v1`,
    FAULT_MODEL_KEY: 'test-key',
  };
  const links = { postgres, temporal, model, clients };
  const slot = createSlot({ name, kind, points, links, env, disturbances: place.disturbances });
  port = slot.port;
  return slot;
}

/** Short waits, so that a fault takes no longer than it must. */
function configuration(): Record<string, unknown> {
  return {
    models: [
      {
        name: 'scripted',
        display_name: 'scripted',
        use: 'langchain_openai:ChatOpenAI',
        model: 'scripted',
        api_key: '$FAULT_MODEL_KEY',
        base_url: '$FAULT_MODEL_URL',
      },
    ],
    llm_call: {
      retry_max_attempts: 20,
      retry_base_delay_ms: 500,
      retry_cap_delay_ms: 4_000,
      burst_retry_base_delay_ms: 500,
    },
    // The faults are of these tests' making: no model is left alone for them.
    circuit_breaker: { failure_threshold: 1_000_000 },
    sandbox: { use: 'deerflow.sandbox.local:LocalSandboxProvider', allow_host_bash: true, bash_command_timeout: 20 },
  };
}
