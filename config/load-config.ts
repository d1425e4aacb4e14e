/** Reads, resolves, validates and freezes the configuration. Every failure is one `AppError('configuration')`. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { Config } from '../contracts/schemas/config';
import { configError } from './config-error';
import type { EnvironmentVariables } from './environment-variables';
import { splitInactive, withoutNulls } from './inactive';
import { interpolate } from './interpolate';
import { DEFAULT_NAME, locateConfig } from './locate-config';
import type { ConfigLocation } from './locate-config';
import { parseYaml } from './parse-yaml';
import type { PlainValue } from './parse-yaml';
import { validateConfig } from './validate';

export interface LoadedConfig {
  config: Config;
  /** Absolute path of the file; null where no file exists and everything has its default. */
  path: string | null;
  /** Names of sections and keys that are accepted but have no effect yet. */
  inactive: readonly string[];
  /** Changes when the path or the bytes that were parsed change. */
  signature: string;
  /** The active keys as they are written, with references to variables instead of what these hold. */
  source: ConfigSource;
}

export type ConfigSource = Readonly<Record<string, PlainValue>>;

/** A file as it was read, before anything is known about its content. */
export interface ConfigFile {
  path: string | null;
  bytes: Uint8Array;
  signature: string;
}

export function loadConfig(location: ConfigLocation): LoadedConfig {
  return parseConfigFile(readConfigFile(location), location.env);
}

export function readConfigFile(location: ConfigLocation): ConfigFile {
  const path = locateConfig(location);
  const bytes = path === null ? new Uint8Array() : readBytes(path);
  return { path, bytes, signature: signatureOf(path, bytes) };
}

/** @param adjust Changes what the file says before it is resolved and checked. */
export function parseConfigFile(
  { path, bytes, signature }: ConfigFile,
  env: EnvironmentVariables,
  adjust: (source: ConfigSource) => ConfigSource = (source) => source,
): LoadedConfig {
  const file = configFileName(path);
  const { active, inactive } = splitInactive(parseYaml(bytes, file));
  const source = adjust(withoutNulls(active));
  return deepFreeze({ config: configFromSource(source, env, file), path, inactive, signature, source });
}

/** Only active keys are resolved: a variable that nothing uses need not exist. */
export function configFromSource(source: ConfigSource, env: EnvironmentVariables, file = DEFAULT_NAME): Config {
  return deepFreeze(withFirstOfEachName(validateConfig(interpolate(source, env, file), file)));
}

export function configFileName(path: string | null): string {
  return path === null ? DEFAULT_NAME : basename(path);
}

function readBytes(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw configError(basename(path), '', `expected a readable file (${code})`);
  }
}

function signatureOf(path: string | null, bytes: Uint8Array): string {
  return createHash('sha256')
    .update(`${path ?? ''}\0`)
    .update(bytes)
    .digest('hex');
}

/** Of entries with one name the first counts. */
function withFirstOfEachName(config: Config): Config {
  return {
    ...config,
    models: firstOfEachName(config.models),
    tool_groups: firstOfEachName(config.tool_groups),
    tools: config.tools === null ? null : firstOfEachName(config.tools),
  };
}

function firstOfEachName<Entry extends { name: string }>(entries: readonly Entry[]): Entry[] {
  return [...new Map(entries.toReversed().map((entry) => [entry.name, entry])).values()].toReversed();
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}
