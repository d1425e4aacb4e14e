/** The files that the instances start from: configuration, extensions, secrets. All are copies or made here. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse } from 'dotenv';
import { stringify } from 'yaml';
import { checkDeployment, configFile, loadConfig, type EnvironmentVariables } from '../../config';
import { generateFernetKey } from '../../config/credentials/fernet';
import { EXTENSIONS_FILE, locateExtensions } from '../../config/extensions/locate-extensions';
import { AppError } from '../../contracts';
import type { Progress } from '../../workers/stack/progress';
import { findInstallation } from '../../workers/stack/project-root';
import { forTwoInstances } from './configuration';
import type { InstancesSettings } from './settings';
import { writePrivately } from './state-folder';

const CONFIG_FILE = 'config.yaml';
const SECRETS_FILE = 'secrets.env';
const KEY_NAME = 'DEER_FLOW_CREDENTIALS_KEY';
const NO_EXTENSIONS = `${JSON.stringify({ mcpServers: {}, skills: {} }, null, 2)}\n`;

/**
 * Writes the files and says what was changed.
 * @returns the environment of every process of the instances; what names servers or places of others is blank in it.
 * @throws AppError `configuration` where the configuration cannot be read, or would be refused even so.
 */
export function prepareFiles(settings: InstancesSettings, progress: Progress): NodeJS.ProcessEnv {
  const { folder } = settings;
  const env = {
    ...settings.env,
    ...Object.fromEntries(OF_OTHERS.map((name) => [name, ''])),
    DEER_FLOW_HOME: folder,
    DEER_FLOW_CONFIG_PATH: join(folder, CONFIG_FILE),
    DEER_FLOW_EXTENSIONS_CONFIG_PATH: join(folder, EXTENSIONS_FILE),
    GATEWAY_HOST: '127.0.0.1',
    [KEY_NAME]: readOrMakeKey(join(folder, SECRETS_FILE)),
  };
  copyExtensions(settings, progress);
  writeConfiguration(settings, env, progress);
  return env;
}

/** Set but empty counts as not set, also where a `.env` file sets them. */
const OF_OTHERS = [
  'DATABASE_URL',
  'DEER_FLOW_DATABASE_SCHEMA',
  'TEMPORAL_ADDRESS',
  'TEMPORAL_NAMESPACE',
  'DEER_FLOW_TASK_QUEUE',
  'GATEWAY_PORT',
  'GATEWAY_WORKERS',
  'WEB_CONCURRENCY',
];

function writeConfiguration(settings: InstancesSettings, env: EnvironmentVariables, progress: Progress): void {
  const base = baseConfig(settings);
  const { document } = loadConfig({ ...settings, path: base });
  const containerPrefix = `deer-flow-mi-${createHash('sha256').update(settings.folder).digest('hex').slice(0, 8)}`;
  const adapted = forTwoInstances(document, { keepChannels: settings.keepChannels, containerPrefix });
  // The dialect that the configuration is read in: it takes more words for booleans and numbers.
  const text = stringify(adapted.document, { version: '1.1' });
  writePrivately(join(settings.folder, CONFIG_FILE), `# Made from ${basename(base)} for two instances.\n${text}`);
  progress.step(`Configuration: ${base}, for two instances.`);
  adapted.changes.forEach((change) => progress.step(`  ${change}`));

  const { config } = loadConfig({ env: { ...env, DATABASE_URL: 'not known yet' }, cwd: settings.cwd });
  const { refused } = checkDeployment(config, env);
  if (refused.length === 0) return;
  const lines = refused.map(({ key, problem, remedy }) => `${key}: ${problem}; ${remedy}`);
  throw new AppError('configuration', `Two instances cannot start with ${base}. ${lines.join('. ')}.`);
}

/** The one that was named, else the one that a start would read, else the example. */
function baseConfig(settings: InstancesSettings): string {
  if (settings.baseConfig !== null) {
    if (existsSync(settings.baseConfig)) return settings.baseConfig;
    throw new AppError('configuration', `DEERFLOW_MI_BASE_CONFIG: there is no file ${settings.baseConfig}.`);
  }
  const usual = configFile(settings);
  const example = join(findInstallation(), 'config.example.yaml');
  const found = [usual, example].find((path) => existsSync(path));
  if (found !== undefined) return found;
  throw new AppError('configuration', 'There is neither a config.yaml nor a config.example.yaml to start from.');
}

function copyExtensions(settings: InstancesSettings, progress: Progress): void {
  const found = locateExtensions(settings);
  writePrivately(join(settings.folder, EXTENSIONS_FILE), found === null ? NO_EXTENSIONS : readFileSync(found, 'utf8'));
  if (found !== null) progress.step(`Extensions: a copy of ${found}.`);
}

/** Kept for as long as the data is: what was sealed with it is read again after a crash of the harness. */
function readOrMakeKey(path: string): string {
  const known = existsSync(path) ? parse(readFileSync(path))[KEY_NAME] : undefined;
  if (known !== undefined) return known;
  const key = generateFernetKey();
  writePrivately(path, `${KEY_NAME}=${key}\n`);
  return key;
}
