/** Which file is the configuration: argument, then DEER_FLOW_CONFIG_PATH, then `config.yaml` in the project root. */
import { lstatSync, statSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { resolve } from 'node:path';
import { configError } from './config-error';
import type { EnvironmentVariables } from './environment-variables';

export const DEFAULT_NAME = 'config.yaml';

export interface ConfigLocation {
  path?: string;
  env: EnvironmentVariables;
  cwd: string;
}

/** The project root; a root that was named but does not exist is an error, never replaced in silence. */
export function projectRoot(env: EnvironmentVariables, cwd: string): string {
  const named = env.DEER_FLOW_PROJECT_ROOT;
  if (named === undefined || named === '') return cwd;
  const root = resolve(cwd, named);
  if (!found(statSync, root)?.isDirectory()) {
    throw configError('DEER_FLOW_PROJECT_ROOT', [], 'expected the path of an existing folder');
  }
  return root;
}

/** Path of the configuration file, or null where there is none and the defaults apply. */
export function locateConfig({ path, env, cwd }: ConfigLocation): string | null {
  if (path !== undefined) return existing(resolve(cwd, path), 'path');
  const named = env.DEER_FLOW_CONFIG_PATH;
  if (named !== undefined && named !== '') return existing(resolve(cwd, named), 'DEER_FLOW_CONFIG_PATH');
  const usual = resolve(projectRoot(env, cwd), DEFAULT_NAME);
  // A link that leads nowhere is a file that cannot be read, not the wish for the defaults.
  return found(lstatSync, usual) === null ? null : usual;
}

/** Where the configuration file is, or would be. */
export function configFile(location: ConfigLocation): string {
  return locateConfig(location) ?? resolve(projectRoot(location.env, location.cwd), DEFAULT_NAME);
}

function existing(path: string, source: string): string {
  if (!found(statSync, path)?.isFile()) {
    throw configError(source, [], 'expected the path of an existing configuration file');
  }
  return path;
}

/** What is at a path; null where nothing is, or where the path cannot be followed. */
function found(look: (path: string) => Stats, path: string): Stats | null {
  try {
    return look(path);
  } catch {
    return null;
  }
}
