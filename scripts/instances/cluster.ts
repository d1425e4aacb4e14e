/** All that belongs to the two instances, in order: folder, servers, processes, front; and back. */
import { createNodeService } from '../../workers/stack/node-service';
import { homePaths, prepareHome } from '../../workers/stack/home';
import { lockHome, type HomeLock } from '../../workers/stack/home-lock';
import { rotateLog } from '../../workers/stack/log-file';
import { parseStackOptions } from '../../workers/stack/options';
import { createProcessRecords } from '../../workers/stack/process-records';
import type { Progress } from '../../workers/stack/progress';
import { builtFile } from '../../workers/stack/project-root';
import { choosePortsByName } from '../../workers/stack/stack-ports';
import { allOrFirstFailure, endLeftovers, startServers } from '../../workers/stack/start-servers';
import { supervise, type SupervisedService } from '../../workers/stack/supervisor';
import { startControl } from './control';
import { startFront } from './front';
import { createPart, type Part } from './part';
import { prepareFiles } from './prepare';
import { INSTANCES, type InstanceName, type InstancesSettings } from './settings';
import { claimFolder, emptyFolder, logNames, publishRunning, type RunningInstances } from './state-folder';

export interface ClusterOptions {
  settings: InstancesSettings;
  progress: Progress;
  /** Aborting gives up the start. */
  signal: AbortSignal;
}

export interface Cluster {
  running: RunningInstances;
  /** Resolves when nothing is left but the logs. */
  takeDown(): Promise<void>;
}

/** How long runs that are at work may take to a rest. They are lost anyway; what they started is to be ended in order. */
const DRAIN_MS = 15_000;
const LOG_CHECK_MS = 60_000;

/** Where it fails, everything that was started is taken down before it throws. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { folder } = options.settings;
  claimFolder(folder);
  prepareHome(folder);
  const lock = await lockHome(folder);
  const cluster = createCluster(options, lock);
  try {
    return { running: await cluster.bringUp(), takeDown: () => cluster.takeDown() };
  } catch (error) {
    options.progress.step('Taking down what was started...');
    await cluster.takeDown();
    throw error;
  }
}

function createCluster({ settings, progress, signal }: ClusterOptions, lock: HomeLock) {
  const { folder, cwd } = settings;
  const paths = homePaths(folder);
  const records = createProcessRecords(paths.records);
  const giveUp = new AbortController();
  const starting = AbortSignal.any([signal, giveUp.signal]);
  const servers: SupervisedService[] = [];
  const parts: Part[] = [];
  const doors: { close(): Promise<void> }[] = [];
  const logs = setInterval(() => logNames(folder).forEach((name) => rotateLog(paths.log(name))), LOG_CHECK_MS);
  logs.unref();

  const partOf = (name: string, file: string, env: NodeJS.ProcessEnv): Part => {
    const service = { name, entryPoint: builtFile(file), env: () => env, logFile: paths.log(name), records };
    return createPart(createNodeService(service), { progress, signal: starting });
  };
  const stopAll = async () => {
    await Promise.all(doors.map((door) => door.close()));
    const hurry = setTimeout(() => parts.forEach((part) => void part.stop('now')), DRAIN_MS);
    await Promise.all(parts.map((part) => part.stop('drain'))).finally(() => clearTimeout(hurry));
    await Promise.all(servers.map((server) => server.stop('drain')));
  };

  return {
    async bringUp(): Promise<RunningInstances> {
      await endLeftovers(records, progress);
      const own = prepareFiles(settings, progress);
      const ports = await choosePortsByName(settings.ports);
      const options = parseStackOptions({ argv: [], env: own, cwd });
      const context = { options, records, progress, signal: starting, giveUp };
      const env = await startServers(context, ports, async (service) => {
        servers.push(await supervise(service, { progress }, starting));
      });
      const workers = Array.from({ length: settings.workers }, (_, index) =>
        partOf(`worker-${index + 1}`, 'workers/worker.js', env),
      );
      const instance = (name: InstanceName) =>
        partOf(name, 'api/server.js', { ...env, GATEWAY_PORT: String(ports[name]) });
      parts.push(...workers, ...INSTANCES.map(instance));
      progress.step(`Starting ${parts.map(({ name }) => name).join(', ')}...`);
      await allOrFirstFailure(
        parts.map((part) => part.start()),
        giveUp,
      );
      const front = await startFront({
        port: ports.front,
        upstreams: INSTANCES.map((name) => ({ name, port: ports[name] })),
      });
      doors.push(front);
      const control = await startControl({ port: ports.control, parts });
      doors.push(control);
      const urls = { front: front.url, a: localUrl(ports.a), b: localUrl(ports.b) };
      const temporalUiUrl = localUrl(ports.temporalUi);
      const running = { urls, control: control.access, temporalUiUrl };
      publishRunning(folder, running);
      const temporalAddress = env.TEMPORAL_ADDRESS ?? '';
      lock.publish({ apiUrl: urls.front, temporalAddress, temporalUiUrl, postgresPort: ports.postgres });
      return running;
    },
    async takeDown(): Promise<void> {
      clearInterval(logs);
      giveUp.abort();
      await stopAll();
      emptyFolder(folder, () => lock.release());
    },
  };
}

function localUrl(port: number): string {
  return `http://127.0.0.1:${port}`;
}
