/** The settings of a process that are no part of `config.yaml`: where it listens, stores and connects. */
import { resolve } from 'node:path';
import { AppError } from '../contracts';
import { parseCredentialKeys } from './credentials/keys';
import type { FernetKey } from './credentials/fernet';
import { withEnvironmentFile } from './environment-file';
import type { EnvironmentVariables } from './environment-variables';
import { projectRoot } from './locate-config';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface Environment {
  gateway: { host: string; port: number; docsEnabled: boolean; corsOrigins: readonly string[] };
  projectRoot: string;
  /** Folder of everything that this installation keeps on disk. */
  home: string;
  configPath: string | null;
  skillsPath: string | null;
  database: { url: string | null; schema: string };
  temporal: { address: string | null; namespace: string; taskQueue: string; binary: string | null };
  /** Null: as `log_level` in the configuration says. */
  logLevel: LogLevel | null;
  logFormat: 'json' | 'pretty';
  authDisabled: boolean;
  /** Keys of `DEER_FLOW_CREDENTIALS_KEY`; null: the key file of the home. */
  credentialKeys: readonly FernetKey[] | null;
  /** Programs that MCP servers may be started with over the API, beside the usual ones. */
  mcpCommands: readonly string[];
}

/** PostgreSQL cuts longer names, and a schema name is put into statements: only plain names are taken. */
const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,62}$/;

export function parseEnvironment(env: EnvironmentVariables, cwd: string): Environment {
  const root = projectRoot(env, cwd);
  const homeDirectory = text(env, 'DEER_FLOW_HOME');
  return Object.freeze<Environment>({
    gateway: Object.freeze({
      host: text(env, 'GATEWAY_HOST') ?? '127.0.0.1',
      port: port(env, 'GATEWAY_PORT', 8001),
      // Only the exact word opens the documentation once the variable is set: a typing error must not publish it.
      docsEnabled: (text(env, 'GATEWAY_ENABLE_DOCS') ?? 'true') === 'true',
      corsOrigins: Object.freeze(origins(env)),
    }),
    projectRoot: root,
    home: homeDirectory === null ? resolve(root, '.deer-flow') : resolve(cwd, homeDirectory),
    configPath: path(env, 'DEER_FLOW_CONFIG_PATH', cwd),
    skillsPath: path(env, 'DEER_FLOW_SKILLS_PATH', cwd),
    database: Object.freeze({
      url: databaseUrl(env),
      schema: matching(env, 'DEER_FLOW_DATABASE_SCHEMA', SCHEMA_NAME, 'a lower-case name', 'deerflow'),
    }),
    temporal: Object.freeze({
      address: text(env, 'TEMPORAL_ADDRESS'),
      namespace: text(env, 'TEMPORAL_NAMESPACE') ?? 'default',
      taskQueue: text(env, 'DEER_FLOW_TASK_QUEUE') ?? 'deerflow',
      binary: text(env, 'DEER_FLOW_TEMPORAL_BIN'),
    }),
    logLevel: oneOf(env, 'DEER_FLOW_LOG_LEVEL', LOG_LEVELS),
    logFormat: oneOf(env, 'LOG_FORMAT', ['json', 'pretty'] as const) ?? 'json',
    authDisabled: flag(env, 'DEER_FLOW_AUTH_DISABLED', false),
    credentialKeys: parseCredentialKeys(text(env, 'DEER_FLOW_CREDENTIALS_KEY')),
    mcpCommands: Object.freeze(list(env, 'DEER_FLOW_MCP_STDIO_COMMAND_ALLOWLIST')),
  });
}

/**
 * The one place where the process's own environment is read. The `.env` file's variables are also put into it, because
 * provider libraries look there for their keys.
 */
export function processEnvironment(cwd: string = process.cwd()): {
  env: EnvironmentVariables;
  environment: Environment;
} {
  const env = Object.freeze({ ...withEnvironmentFile(process.env, cwd) });
  for (const [name, value] of Object.entries(env)) {
    if (process.env[name] === undefined && value !== undefined) process.env[name] = value;
  }
  return { env, environment: parseEnvironment(env, cwd) };
}

function problem(name: string, expected: string): AppError {
  return new AppError('configuration', `${name}: expected ${expected}`);
}

/** Set but empty counts as not set. */
function text(env: EnvironmentVariables, name: string): string | null {
  const value = env[name]?.trim();
  return value === undefined || value === '' ? null : value;
}

function path(env: EnvironmentVariables, name: string, cwd: string): string | null {
  const value = text(env, name);
  return value === null ? null : resolve(cwd, value);
}

function port(env: EnvironmentVariables, name: string, fallback: number): number {
  const value = text(env, name);
  if (value === null) return fallback;
  const number = /^\d{1,5}$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= 0 && number <= 65_535)) throw problem(name, 'a port number from 0 to 65535');
  return number;
}

function matching(env: EnvironmentVariables, name: string, form: RegExp, expected: string, fallback: string): string {
  const value = text(env, name) ?? fallback;
  if (!form.test(value)) throw problem(name, expected);
  return value;
}

function oneOf<Choice extends string>(
  env: EnvironmentVariables,
  name: string,
  choices: readonly Choice[],
): Choice | null {
  const value = text(env, name)?.toLowerCase();
  if (value === undefined) return null;
  const choice = choices.find((candidate) => candidate === value);
  if (choice === undefined) throw problem(name, `one of ${choices.join(', ')}`);
  return choice;
}

function flag(env: EnvironmentVariables, name: string, fallback: boolean): boolean {
  const value = oneOf(env, name, ['true', 'false', '1', '0'] as const);
  return value === null ? fallback : value === 'true' || value === '1';
}

/** The wildcard is left out: requests carry a session, and browsers refuse both together. */
function origins(env: EnvironmentVariables): string[] {
  return list(env, 'GATEWAY_CORS_ORIGINS').filter((entry) => entry !== '*');
}

/** Entries between commas. */
function list(env: EnvironmentVariables, name: string): string[] {
  const entries = (env[name] ?? '').split(',').map((entry) => entry.trim());
  return entries.filter((entry) => entry !== '');
}

function databaseUrl(env: EnvironmentVariables): string | null {
  const value = text(env, 'DATABASE_URL');
  if (value === null) return null;
  // The value holds a password, so it is not repeated.
  if (!/^postgres(ql)?:\/\//.test(value) || !URL.canParse(value))
    throw problem('DATABASE_URL', 'a postgresql:// address');
  return value;
}
