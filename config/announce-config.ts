/** What a process does with its configuration before it starts anything: refuse, or say what is worth knowing. */
import type { LoadedConfig } from './load-config';
import { requireDeployable } from './deployment-gates';
import type { EnvironmentVariables } from './environment-variables';

/** The part of a logger that is used here. */
interface Warns {
  warn(fields: object, message: string): void;
}

export interface AnnounceConfigOptions {
  loaded: LoadedConfig;
  env: EnvironmentVariables;
  log: Warns;
}

/** @throws AppError `configuration` where this deployment must not start. */
export function announceConfig({ loaded, env, log }: AnnounceConfigOptions): void {
  for (const { key, problem, remedy } of requireDeployable(loaded.config, env))
    log.warn({ key }, `${problem}; ${remedy}`);
  for (const warning of loaded.warnings) log.warn({}, warning);
  if (loaded.inactive.changed.length > 0) {
    log.warn({ keys: loaded.inactive.changed }, 'keys of the configuration that have no effect yet');
  }
}
