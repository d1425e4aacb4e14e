import { basename } from 'node:path';
import { checkDeployment, loadConfig } from '../../../config';
import type { EnvironmentVariables, LoadedConfig } from '../../../config';
import { isAppError } from '../../../contracts';
import type { Finding } from '../finding';

const ABOUT = 'configuration';

export interface ConfigurationCheck {
  findings: Finding[];
  /** Null where it cannot be used. */
  loaded: LoadedConfig | null;
}

export function checkConfiguration(env: EnvironmentVariables, cwd: string): ConfigurationCheck {
  let loaded: LoadedConfig;
  try {
    loaded = loadConfig({ env, cwd });
  } catch (error) {
    if (!isAppError(error)) throw error;
    const remedy = 'mend the line that is named; a process that already runs goes on with what it last read';
    return { findings: [{ about: ABOUT, status: 'refused', text: error.message, remedy }], loaded: null };
  }
  const where =
    loaded.path === null ? 'no config.yaml: everything has its default' : `${basename(loaded.path)} is valid`;
  return { findings: [{ about: ABOUT, status: 'ok', text: where }, ...remarks(loaded), ...gates(loaded, env)], loaded };
}

function remarks({ warnings, inactive }: LoadedConfig): Finding[] {
  return [
    ...warnings.map((text): Finding => ({ about: ABOUT, status: 'warning', text })),
    ...inactive.changed.map((key): Finding => ({
      about: ABOUT,
      status: 'not_active',
      text: `${key} is accepted and has no effect: what it is for is not built yet`,
    })),
    ...(inactive.usual.length === 0 ? [] : [unchanged(inactive.usual)]),
  ];
}

function unchanged(keys: readonly string[]): Finding {
  const text = `at their defaults, and without an effect yet: ${keys.join(', ')}`;
  return { about: ABOUT, status: 'not_active', text };
}

function gates({ config }: LoadedConfig, env: EnvironmentVariables): Finding[] {
  const { refused, warnings } = checkDeployment(config, env);
  const about = 'deployment';
  const found = [
    ...refused.map(({ key, problem, remedy }): Finding => ({
      about,
      status: 'refused',
      text: `${key}: ${problem}`,
      remedy,
    })),
    ...warnings.map(({ key, problem, remedy }): Finding => ({
      about,
      status: 'warning',
      text: `${key}: ${problem}`,
      remedy,
    })),
  ];
  return found.length > 0 ? found : [{ about, status: 'ok', text: 'nothing stands against starting' }];
}
