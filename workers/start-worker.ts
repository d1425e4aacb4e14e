import { createHmac, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import type { LogEntry } from '@temporalio/worker';
import type { ActivityDependencies } from '../activities';
import {
  createActivities,
  createConversationCache,
  createModelPermits,
  createNextTurns,
  createPlannedCalls,
  createWorkerModelCalls,
} from '../activities';
import { createCredentialCipher, deploymentKey, secretVariables, withMoreModels } from '../config';
import type { Environment, EnvironmentVariables, LiveConfig } from '../config';
import { AppError } from '../contracts';
import type { ModelTurnInput } from '../contracts';
import { MANAGED_MODELS_CHANNEL, createDatabase, createListener, createStores, migrate } from '../db';
import { createChatModelFactory } from '../models';
import { startDemoModel } from '../models/demo';
import type { DemoModel } from '../models/demo';
import { createManagedModelSource, openRecords } from '../models/managed';
import type { Logger } from '../observability';
import { createSandboxProvider, createThreadPaths } from '../sandbox';
import { boundedGateway, createRunGateway, openTemporal } from '../temporal';
import { createToolRegistry, parseWriteLimit } from '../tools';
import { prepareNamespace } from './prepare-namespace';
import { remarkOnSetup } from './remark-on-setup';
import { createRunSetups } from './run-setups';
import { runTogether } from './run-together';
import { waitFor } from './wait-for';

export interface WorkerOptions {
  environment: Environment;
  /** Variables of the process: what commands of agents inherit, without secrets. */
  env: EnvironmentVariables;
  live: LiveConfig;
  log: Logger;
}

export interface RunningWorker {
  shutdown(): void;
  /** Resolves when everything in flight is done or handed back, and all connections are closed. */
  finished: Promise<void>;
}

/** Time that steps in flight get to finish on their own after SIGTERM. */
const SHUTDOWN_GRACE = '20s';
const SHUTDOWN_FORCE = '30s';
const HAND_OVER_LIMIT_MS = 2_000;
const MAX_CONNECTIONS = 20;
const MAX_CACHED_WORKFLOWS = 600;
const MAX_CONCURRENT_ACTIVITIES = 200;
const MAX_CONCURRENT_LOCAL_ACTIVITIES = 200;
/** A workflow task is open while a model call may still be quick. */
const MAX_CONCURRENT_WORKFLOW_TASKS = 200;
/** Model calls that are not quick: they wait for a provider and cost this process little. */
const MAX_CONCURRENT_MODEL_CALLS = 1_000;

const POLLERS = { type: 'autoscaling', initial: 2, minimum: 1, maximum: 10 } as const;

/** The composition root of a worker process. */
export async function startWorker({ environment, env, live, log }: WorkerOptions): Promise<RunningWorker> {
  const { database: databaseSettings, temporal: temporalSettings } = environment;
  if (databaseSettings.url === null) throw new AppError('configuration', 'DATABASE_URL: expected a PostgreSQL address');
  if (temporalSettings.address === null) throw new AppError('configuration', 'TEMPORAL_ADDRESS: expected host:port');

  const database = createDatabase({
    url: databaseSettings.url,
    schema: databaseSettings.schema,
    maxConnections: MAX_CONNECTIONS,
    applicationName: 'deerflow worker',
    onError: (error) => log.warn({ err: error }, 'a database connection broke'),
  });
  await waitFor('PostgreSQL', log, () => migrate(database));

  Runtime.install({
    logger: new DefaultLogger('WARN', (entry) => report(log, entry)),
    // The library would stop all workers of the process at once.
    shutdownSignals: [],
  });
  const connection = await waitFor('Temporal', log, () =>
    NativeConnection.connect({
      address: temporalSettings.address ?? '',
    }),
  );
  const temporal = openTemporal({ address: temporalSettings.address, namespace: temporalSettings.namespace });
  await waitFor('the Temporal namespace', log, () => prepareNamespace(temporal, temporalSettings));

  let demo: Promise<DemoModel> | null = null;
  const key = await deploymentKey(environment.home);
  const stores = createStores(database, key);
  const sandboxes = createSandboxProvider({
    home: environment.home,
    config: live.current().config,
    environment: env,
    secretVariables: () => secretVariables(live.current().document),
    log,
  });
  const catalogueListener = createListener(database, MANAGED_MODELS_CHANNEL);
  const cipher = createCredentialCipher({ keys: environment.credentialKeys, home: environment.home });
  const managedModels = createManagedModelSource({
    load: async () => openRecords(await stores.managedModels.list(), cipher),
    subscribe: (onNotification) => catalogueListener.subscribe(onNotification),
    log,
  });
  await managedModels.refresh();
  const deps: ActivityDependencies = {
    stores,
    setups: createRunSetups({
      live: withMoreModels(live, () => managedModels.current()),
      env,
      configurations: stores.configurations,
      onNewest: (setup) => remarkOnSetup(setup, log),
      log,
      async build(config) {
        // Started for the first configuration without a model, and then kept for those that may follow.
        if (config.models.length === 0) demo ??= startDemoModel();
        const demoBaseUrl = config.models.length === 0 ? (await demo)?.baseUrl : undefined;
        const tools = createToolRegistry({
          config,
          commandsAllowed: sandboxes.commandsAllowed,
          writeLimitBytes: () => parseWriteLimit(env['DEERFLOW_WRITE_FILE_MAX_BYTES']),
          log,
        });
        return { config, models: createChatModelFactory({ config, demoBaseUrl, env, log }), tools };
      },
    }),
    sandboxes,
    ownTaskQueue: `host/${randomUUID()}`,
    gateway: boundedGateway(temporal, createRunGateway(temporal.client, temporalSettings.taskQueue)),
    conversations: createConversationCache(stores.turns),
    plannedCalls: createPlannedCalls(),
    nextTurns: createNextTurns(),
    permits: createModelPermits({ store: stores.permits, log }),
    paths: createThreadPaths({ home: environment.home }),
    webhookKey: createHmac('sha256', key).update('webhook').digest(),
    log,
  };

  const modelCalls = createWorkerModelCalls(deps);
  const activities = createActivities(deps, modelCalls);
  const shared = {
    connection,
    namespace: temporalSettings.namespace,
    shutdownGraceTime: SHUTDOWN_GRACE,
    shutdownForceTime: SHUTDOWN_FORCE,
    // A Stop travels on the answer to a heartbeat.
    maxHeartbeatThrottleInterval: '1s',
    defaultHeartbeatThrottleInterval: '1s',
  } as const;
  const worker = await Worker.create({
    ...shared,
    taskQueue: temporalSettings.taskQueue,
    ...workflowCode(),
    activities: { ...activities },
    maxCachedWorkflows: MAX_CACHED_WORKFLOWS,
    maxConcurrentWorkflowTaskExecutions: MAX_CONCURRENT_WORKFLOW_TASKS,
    maxConcurrentActivityTaskExecutions: MAX_CONCURRENT_ACTIVITIES,
    maxConcurrentLocalActivityExecutions: MAX_CONCURRENT_LOCAL_ACTIVITIES,
    // Few long polls while there is little to do: those of a frozen worker would still be given work.
    workflowTaskPollerBehavior: POLLERS,
    activityTaskPollerBehavior: POLLERS,
    // A worker that was killed keeps its sticky queue: others take over after this time.
    stickyQueueScheduleToStartTimeout: '2s',
  });
  const ownWorker = await Worker.create({
    ...shared,
    taskQueue: deps.ownTaskQueue,
    activities: { callModel: (input: ModelTurnInput) => activities.callModel(input) },
    maxConcurrentActivityTaskExecutions: MAX_CONCURRENT_MODEL_CALLS,
    activityTaskPollerBehavior: { ...POLLERS, initial: 1 },
  });
  log.info(
    { taskQueue: temporalSettings.taskQueue, models: (await deps.setups.newest()).models.names() },
    'worker polls',
  );

  const handedOver = () => modelCalls.joined(HAND_OVER_LIMIT_MS);
  const running = runTogether({ shared: worker, own: ownWorker, handedOver });
  const finished = running.finished.finally(async () => {
    await sandboxes.shutdown();
    managedModels.close();
    await catalogueListener.close();
    await (await demo)?.close();
    await temporal.close();
    await connection.close();
    await database.close();
  });
  return { finished, shutdown: () => running.shutdown() };
}

/** The worker of the own queue has no workflows, which the library finds worth a warning. */
function report(log: Logger, { message, meta }: LogEntry): void {
  log[/^No workflows registered/.test(message) ? 'debug' : 'warn']({ ...meta }, message);
}

/** The bundle made by `npm run build`; without one, as in tests from source, it is made now. */
function workflowCode() {
  const codePath = join(__dirname, '..', 'workflow-bundle.js');
  return existsSync(codePath) ? { workflowBundle: { codePath } } : { workflowsPath: require.resolve('../workflows') };
}
