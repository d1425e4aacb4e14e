/**
 * What must hold before a process of a deployment with several processes may start. Pure: says what is refused and what
 * is only remarked on, each with its reason and the way back.
 *
 * Where Temporal and PostgreSQL give the guarantee that a setting stands for in DeerFlow, a wrong setting is remarked
 * on and not refused: one workflow per run replaces leases and heartbeats, and events lie in PostgreSQL for every
 * instance.
 */
import { AppError } from '../contracts';
import { CONNECTED_CHANNELS } from '../contracts/schemas/config';
import type { Config } from '../contracts/schemas/config';
import type { EnvironmentVariables } from './environment-variables';

export interface GateFinding {
  /** The dotted key or the variable to change. */
  key: string;
  problem: string;
  remedy: string;
}

export interface GateReport {
  refused: GateFinding[];
  warnings: GateFinding[];
}

const SINGLE_INSTANCE = 'run a single instance';
const OFF_WORDS = ['', '0', 'false', 'no', 'off'];

export interface Topology {
  /** Somebody said that there is more than one instance. */
  declared: boolean;
  /** Declared, or more than one worker process was asked for. */
  several: boolean;
}

/** More than one process by `GATEWAY_WORKERS` (else `WEB_CONCURRENCY`), or declared in the environment or the file. */
export function topologyOf(config: Config, env: EnvironmentVariables): Topology {
  const declared =
    config.deployment.multi_instance ||
    !OFF_WORDS.includes((env['DEER_FLOW_MULTI_INSTANCE'] ?? '').trim().toLowerCase());
  const workers = [env['GATEWAY_WORKERS'], env['WEB_CONCURRENCY']].map((text) => (text ?? '').trim());
  const count = Number(workers.find((text) => text !== '') ?? '1');
  return { declared, several: declared || (Number.isFinite(count) && count > 1) };
}

/**
 * What a process calls before it starts anything.
 * @returns what is worth a warning in the log.
 * @throws AppError `configuration` that names everything that is refused.
 */
export function requireDeployable(config: Config, env: EnvironmentVariables): GateFinding[] {
  const { refused, warnings } = checkDeployment(config, env);
  if (refused.length === 0) return warnings;
  const lines = refused.map(({ key, problem, remedy }) => `${key}: ${problem}; ${remedy}`);
  throw new AppError('configuration', `This deployment cannot start. ${lines.join('. ')}.`, { detail: refused });
}

/** @param config a configuration as it was loaded; its database section says what DeerFlow would use. */
export function checkDeployment(config: Config, env: EnvironmentVariables): GateReport {
  const topology = topologyOf(config, env);
  const report: GateReport = { refused: [], warnings: [] };
  schedulerGates(config, topology, report);
  if (topology.several) severalProcesses(config, report);
  credentialGate(config, env, topology, report);
  agentStorageGate(config, report);
  storageRemarks(config, report);
  return report;
}

function schedulerGates(
  { scheduler, database, run_ownership, run_events }: Config,
  topology: Topology,
  to: GateReport,
) {
  if (scheduler.multi_instance && database.backend !== 'postgres') {
    to.refused.push({
      key: 'database.backend',
      problem: 'scheduler.multi_instance needs one database for all instances',
      remedy: 'set database.backend to postgres, or scheduler.multi_instance to false',
    });
  }
  if (scheduler.multi_instance && (!run_ownership.heartbeat_enabled || run_events.backend !== 'db')) {
    to.warnings.push({
      key: 'scheduler.multi_instance',
      problem: 'run_ownership.heartbeat_enabled and run_events.backend: db go with it',
      remedy: 'nothing has to be done: here a run is one workflow, which no instance can take from another',
    });
  }
  if (topology.several && scheduler.enabled && !scheduler.multi_instance) {
    to.refused.push({
      key: 'scheduler.multi_instance',
      problem: 'the scheduler is on and there is more than one process: a task could be launched twice',
      remedy: `set scheduler.multi_instance to true, set scheduler.enabled to false, or ${SINGLE_INSTANCE}`,
    });
  }
}

function severalProcesses(config: Config, to: GateReport): void {
  const browser = (config.tools ?? []).find(({ name }) => name === 'browser_navigate');
  if (browser !== undefined) {
    to.refused.push({
      key: 'tools[browser_navigate]',
      problem: 'a browser session lives in one process, and later requests may reach another',
      remedy: `remove the browser tools, or ${SINGLE_INSTANCE}`,
    });
  }
  if (config.database.backend !== 'postgres') {
    to.refused.push({
      key: 'database.backend',
      problem: 'several processes need one database whose row locks hold for all of them',
      remedy: `set database.backend to postgres, or ${SINGLE_INSTANCE}`,
    });
  }
  if (config.sandbox.ownership.type === 'memory') {
    to.refused.push({
      key: 'sandbox.ownership.type',
      problem: 'with memory, one process could end a sandbox that another one uses',
      remedy: `remove the line or set it to redis, or ${SINGLE_INSTANCE}`,
    });
  }
  channelGate(config, to);
  metByDesign(config, to);
  const warn = (key: string, problem: string, remedy: string) => to.warnings.push({ key, problem, remedy });
  if (config.agent_storage.backend === 'file') {
    warn('agent_storage.backend', 'agents in files are seen by the instances of one disk only', 'set it to db');
  }
  if (config.dedupe_storage.backend === 'memory') {
    warn('dedupe_storage.backend', 'a webhook that reaches two instances is handled twice', 'set it to auto');
  }
  if (config.auth.local.throttle_storage === 'memory') {
    warn('auth.local.throttle_storage', 'each instance counts failed logins for itself', 'set it to auto');
  }
  const { wechat } = config.channels;
  if (wechat.enabled && wechat['qrcode_login_enabled'] === true && !wechat['bot_token']) {
    const problem = 'only the instance that showed the QR code is logged in';
    warn('channels.wechat.qrcode_login_enabled', problem, 'set a bot_token instead');
  }
  if (config.memory.enabled && config.memory.backend_config.retrieval_index_path === null) {
    const problem = 'the index of the memory lies in the folder that all instances share, and needs one writer';
    warn('memory.backend_config.retrieval_index_path', problem, 'set it to a folder of each instance');
  }
}

/** Only what several instances cannot share: one connection of a bot. GitHub's webhooks reach any instance. */
function channelGate({ channels }: Config, to: GateReport): void {
  if (channels.leader_lease.enabled !== false) return;
  const providers = CONNECTED_CHANNELS.filter((name) => channels[name].enabled === true);
  if (providers.length === 0) return;
  to.refused.push({
    key: 'channels.leader_lease.enabled',
    problem: `several processes would connect the bots of ${providers.join(', ')} at once`,
    remedy: `${SINGLE_INSTANCE}, or disable these channels`,
  });
}

/** Settings that DeerFlow insists on for several processes and that change nothing here. */
function metByDesign({ run_events, run_ownership, stream_bridge }: Config, to: GateReport): void {
  const met = (key: string, because: string) =>
    to.warnings.push({ key, problem: 'has no effect on several processes here', remedy: because });
  if (run_events.backend !== 'db') met('run_events.backend', 'events always lie in PostgreSQL, for every process');
  if (!run_ownership.heartbeat_enabled) {
    met('run_ownership.heartbeat_enabled', 'Temporal finds runs of dead processes and keeps those of live ones');
  }
  if (stream_bridge.type !== 'redis') met('stream_bridge.type', 'any process streams any run from PostgreSQL');
}

function credentialGate(config: Config, env: EnvironmentVariables, topology: Topology, to: GateReport): void {
  if (!topology.declared || !config.channel_connections.enabled) return;
  if ((env['DEER_FLOW_CREDENTIALS_KEY'] ?? '').trim() !== '') return;
  to.refused.push({
    key: 'DEER_FLOW_CREDENTIALS_KEY',
    problem: 'every instance must be able to read the stored credentials, and a key that one of them makes is its own',
    remedy: 'set the same key for all instances, or disable channel_connections',
  });
}

function agentStorageGate({ agent_storage, database }: Config, to: GateReport): void {
  if (agent_storage.backend !== 'db' || database.backend !== 'memory') return;
  to.refused.push({
    key: 'agent_storage.backend',
    problem: 'db keeps agents in the database, and database.backend is memory',
    remedy: 'set database.backend to postgres, or agent_storage.backend to file',
  });
}

/** Where a section asks for the database and the database is none that could do it, DeerFlow goes on in memory. */
function storageRemarks({ auth, dedupe_storage, database }: Config, to: GateReport): void {
  if (auth.local.throttle_storage === 'db' && database.backend === 'memory') {
    to.warnings.push({
      key: 'auth.local.throttle_storage',
      problem: 'db counts failed logins in the database, and database.backend is memory',
      remedy: 'set database.backend to postgres, or throttle_storage to auto',
    });
  }
  if (dedupe_storage.backend === 'postgres' && database.backend !== 'postgres') {
    to.warnings.push({
      key: 'dedupe_storage.backend',
      problem: `postgres needs PostgreSQL, and database.backend is ${database.backend}`,
      remedy: 'set database.backend to postgres, or dedupe_storage.backend to auto',
    });
  }
}
