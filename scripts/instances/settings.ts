/** What the environment says of the two instances: where they are kept, on which ports, from which configuration. */
import { join, resolve } from 'node:path';
import { parseEnvironment, withEnvironmentFile, type EnvironmentVariables } from '../../config';
import { AppError } from '../../contracts';
import type { PortWish } from '../../workers/stack/ports';

export const INSTANCES = ['a', 'b'] as const;
export type InstanceName = (typeof INSTANCES)[number];

export type OwnPortName = InstanceName | 'front' | 'control' | 'postgres' | 'temporal' | 'temporalUi';

export interface InstancesSettings {
  cwd: string;
  /** Of the process and the `.env` file together. */
  env: EnvironmentVariables;
  /** Everything that the instances keep on disk lies in this folder. */
  folder: string;
  /** Named by the user; null: the one that a start would read, else the example. */
  baseConfig: string | null;
  workers: number;
  keepChannels: boolean;
  ports: Readonly<Record<OwnPortName, PortWish>>;
}

const MOST_WORKERS = 2;

export function readSettings({ env: own, cwd }: { env: EnvironmentVariables; cwd: string }): InstancesSettings {
  const env = withEnvironmentFile(own, cwd);
  const { projectRoot } = parseEnvironment(env, cwd);
  const folder = text(env, 'DEERFLOW_MI_STATE_DIR');
  const base = text(env, 'DEERFLOW_MI_BASE_CONFIG');
  const port = (name: string, purpose: string, usual?: number): PortWish => ({
    named: portOf(env, name, usual),
    purpose,
    remedy: `name another in ${name} (0: any that is free)`,
  });
  return {
    cwd,
    env,
    folder: folder === null ? join(projectRoot, '.deer-flow', 'multi-instance') : resolve(cwd, folder),
    baseConfig: base === null ? null : resolve(cwd, base),
    workers: workersOf(env),
    keepChannels: text(env, 'DEERFLOW_MI_KEEP_CHANNELS') === '1',
    ports: {
      a: port('DEERFLOW_MI_GATEWAY_A_PORT', 'instance a', 8001),
      b: port('DEERFLOW_MI_GATEWAY_B_PORT', 'instance b', 8011),
      front: port('DEERFLOW_MI_FRONT_PORT', 'the front', 2027),
      postgres: port('DEERFLOW_MI_POSTGRES_PORT', 'PostgreSQL'),
      temporal: port('DEERFLOW_MI_TEMPORAL_PORT', 'Temporal'),
      temporalUi: port('DEERFLOW_MI_TEMPORAL_UI_PORT', 'the Temporal UI'),
      control: { purpose: 'the commands of this harness', remedy: 'try again' },
    },
  };
}

/** Undefined: any that is free. */
function portOf(env: EnvironmentVariables, name: string, usual?: number): number | undefined {
  const value = text(env, name);
  if (value === null) return usual;
  const port = /^\d{1,5}$/.test(value) ? Number(value) : Number.NaN;
  if (!(port >= 0 && port <= 65_535)) throw wrong(name, 'a port number from 0 to 65535');
  return port === 0 ? undefined : port;
}

function workersOf(env: EnvironmentVariables): number {
  const value = text(env, 'DEERFLOW_MI_WORKERS') ?? String(MOST_WORKERS);
  if (!/^[12]$/.test(value)) throw wrong('DEERFLOW_MI_WORKERS', '1 or 2');
  return Number(value);
}

function text(env: EnvironmentVariables, name: string): string | null {
  const value = env[name]?.trim();
  return value === undefined || value === '' ? null : value;
}

function wrong(name: string, expected: string): AppError {
  return new AppError('configuration', `${name}: expected ${expected}`);
}
