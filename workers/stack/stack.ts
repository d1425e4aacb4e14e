/** The whole stack in order: home, servers, worker and API; and back. */
import { homePaths, prepareHome } from './home';
import { lockHome, type HomeLock, type StackAddresses } from './home-lock';
import type { StopMode } from './launch';
import { rotateLog } from './log-file';
import { createNodeService } from './node-service';
import type { StackOptions } from './options';
import { createProcessRecords } from './process-records';
import type { Progress } from './progress';
import { builtFile } from './project-root';
import { chooseStackPorts, withReplaceablePorts, type StackPorts } from './stack-ports';
import { allOrFirstFailure, endLeftovers, startServers } from './start-servers';
import { supervise, type Service, type SupervisedService, type SupervisorOptions } from './supervisor';

export interface RunningStack {
  addresses: StackAddresses;
  /** Resolves when no process of the stack is left. A second call with `now` hurries the first. */
  stop(mode: StopMode): Promise<void>;
}

export interface EntryPoints {
  worker: string;
  api: string;
}

export interface StartStackOptions {
  options: StackOptions;
  progress: Progress;
  /** Aborting gives up the start and stops what was started. */
  signal: AbortSignal;
  entryPoints?: EntryPoints;
  restarts?: Omit<SupervisorOptions, 'progress'>;
}

const LOG_CHECK_MS = 60_000;

export async function startStack(start: StartStackOptions): Promise<RunningStack> {
  prepareHome(start.options.home);
  const lock = await lockHome(start.options.home);
  const stack = createStack(start, lock);
  try {
    const addresses = await stack.bringUp();
    lock.publish(addresses);
    return { addresses, stop: (mode) => stack.stop(mode) };
  } catch (error) {
    await stack.stop('now');
    throw error;
  }
}

function createStack({ options, progress, signal, entryPoints, restarts }: StartStackOptions, lock: HomeLock) {
  const paths = homePaths(options.home);
  const records = createProcessRecords(paths.records);
  const giveUp = new AbortController();
  const starting = AbortSignal.any([signal, giveUp.signal]);
  const servers: SupervisedService[] = [];
  const parts: SupervisedService[] = [];
  const keep = async (service: Service, list: SupervisedService[]) => {
    list.push(await supervise(service, { ...restarts, progress }, starting));
  };
  const logs = setInterval(() => LOG_NAMES.forEach((name) => rotateLog(paths.log(name))), LOG_CHECK_MS);
  logs.unref();

  const stopInOrder = async (mode: StopMode) => {
    clearInterval(logs);
    const stopAll = (list: SupervisedService[]) => Promise.all(list.map((service) => service.stop(mode)));
    // The worker and the API write down what they have before their servers go.
    await stopAll(parts);
    await stopAll(servers);
    lock.release();
  };
  let stopping: Promise<void> | undefined;

  return {
    async bringUp(): Promise<StackAddresses> {
      await endLeftovers(records, progress);
      const ports = await chooseStackPorts(options, progress);
      const env = await startServers({ options, records, progress, signal: starting, giveUp }, ports, (service) =>
        keep(service, servers),
      );
      progress.step('Starting the worker and the API...');
      const files = entryPoints ?? { worker: builtFile('workers/worker.js'), api: builtFile('api/server.js') };
      const partEnv = () => ({ ...env, GATEWAY_PORT: String(ports.api) });
      const part = (name: string, entryPoint: string, logName: string) =>
        createNodeService({ name, entryPoint, env: partEnv, records, logFile: paths.log(logName) });
      const worker = part('Worker', files.worker, 'worker');
      const api = withReplaceablePorts(part('API', files.api, 'api'), ports, ['api']);
      await allOrFirstFailure([keep(worker, parts), keep(api, parts)], giveUp);
      return addressesOf(options, ports, env);
    },
    async stop(mode: StopMode): Promise<void> {
      if (mode === 'now' && stopping) {
        await Promise.all([...parts, ...servers].map((service) => service.stop('now')));
      }
      stopping ??= stopInOrder(mode);
      await stopping;
    },
  };
}

const LOG_NAMES = ['postgres', 'temporal', 'worker', 'api'] as const;

function addressesOf(options: StackOptions, ports: StackPorts, env: NodeJS.ProcessEnv): StackAddresses {
  const { gateway, database, temporal } = options.environment;
  const host = gateway.host === '0.0.0.0' || gateway.host === '::' ? '127.0.0.1' : gateway.host;
  return {
    apiUrl: `http://${host.includes(':') ? `[${host}]` : host}:${ports.api}`,
    temporalAddress: env.TEMPORAL_ADDRESS ?? '',
    ...(temporal.address === null ? { temporalUiUrl: `http://127.0.0.1:${ports.temporalUi}` } : {}),
    ...(database.url === null ? { postgresPort: ports.postgres } : {}),
  };
}
