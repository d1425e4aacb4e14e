import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { configError } from '../config-error';
import { projectRoot } from '../locate-config';
import type { ConfigLocation } from '../locate-config';

export const EXTENSIONS_FILE = 'extensions_config.json';
/** The second is the name of an earlier version. */
const NAMES = [EXTENSIONS_FILE, 'mcp_config.json'];
const VARIABLE = 'DEER_FLOW_EXTENSIONS_CONFIG_PATH';

/** Path of the extensions file, or null where there is none. One that was named must be there. */
export function locateExtensions(location: ConfigLocation): string | null {
  const { path, env, cwd } = location;
  const named = path ?? env[VARIABLE];
  if (named !== undefined && named !== '') {
    const found = resolve(cwd, named);
    if (isFile(found)) return found;
    throw configError(path === undefined ? VARIABLE : 'path', [], 'expected the path of an existing extensions file');
  }
  const root = projectRoot(env, cwd);
  const candidates = [root, join(root, 'backend')].flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return candidates.find(isFile) ?? null;
}

/** Where a file is made that is not there yet. */
export function newExtensionsPath({ path, env, cwd }: ConfigLocation): string {
  const named = path ?? env[VARIABLE];
  return named === undefined || named === '' ? join(projectRoot(env, cwd), EXTENSIONS_FILE) : resolve(cwd, named);
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
