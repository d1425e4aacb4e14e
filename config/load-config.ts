/** Reads, resolves, validates and freezes the configuration. Every failure is one `AppError('configuration')`. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { Config } from '../contracts/schemas/config';
import { configError, unnumbered } from './config-error';
import type { ConfigSource } from './config-error';
import type { EnvironmentVariables } from './environment-variables';
import { CONFIG_VERSION } from './config-version';
import { inactiveKeys, splitUnknown, withoutNulls } from './known-keys';
import type { InactiveKeys } from './known-keys';
import { bracedReferences, interpolate } from './interpolate';
import { DEFAULT_NAME, locateConfig } from './locate-config';
import type { ConfigLocation } from './locate-config';
import { moveOldKeys } from './old-keys';
import { parseYaml } from './parse-yaml';
import type { PlainValue } from './parse-yaml';
import { refuseImpossible } from './refusals';
import { validateConfig } from './validate';

export interface LoadedConfig {
  config: Config;
  /** Absolute path of the file; null where no file exists and everything has its default. */
  path: string | null;
  /** Names of sections and keys of the file that are accepted but have no effect yet. */
  inactive: InactiveKeys;
  /** What an operator should know, a line each: none of it stands in the way of a start. */
  warnings: readonly string[];
  /** Changes when the path or the bytes that were parsed change. */
  signature: string;
  /** The known keys as they are written, with references to variables instead of what these hold. */
  document: ConfigDocument;
  /** The section `extensions` of the document. */
  extensions: ConfigDocument;
}

export type ConfigDocument = Readonly<Record<string, PlainValue>>;

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
  adjust: (document: ConfigDocument) => ConfigDocument = (document) => document,
): LoadedConfig {
  const file = configFileName(path);
  const { value, source } = parseYaml(bytes, file);
  const { value: current, moved } = moveOldKeys(withoutNulls(value));
  const { known, unknown } = splitUnknown(current);
  const document = adjust(known);
  const config = checkedConfig(document, env, source);
  return deepFreeze({
    config: withFirstOfEachName(config),
    path,
    inactive: inactiveKeys(document, config),
    warnings: [
      ...(path === null ? [] : outdated(config.config_version, file)),
      ...moved,
      ...unknown.map((key) => `${file}: ${key} is unknown and has no effect`),
      ...repeatedNames(config, file),
      ...bracedReferences(known).map(
        (key) => `${file}: ${key} is no variable but this text: write $NAME, without braces`,
      ),
    ],
    signature,
    document,
    // The schema has seen that it is a mapping.
    extensions: (document['extensions'] ?? {}) as ConfigDocument,
  });
}

export function configFromDocument(document: ConfigDocument, env: EnvironmentVariables): Config {
  return deepFreeze(withFirstOfEachName(checkedConfig(document, env, unnumbered(DEFAULT_NAME))));
}

export function configFileName(path: string | null): string {
  return path === null ? DEFAULT_NAME : basename(path);
}

function checkedConfig(document: ConfigDocument, env: EnvironmentVariables, source: ConfigSource): Config {
  const config = validateConfig(interpolate(document, env, source), source);
  refuseImpossible(config, source);
  return config;
}

function outdated(version: number, file: string): string[] {
  if (version >= CONFIG_VERSION) return [];
  return [
    `Your ${file} (version ${version}) is outdated — the latest version is ${CONFIG_VERSION}. ` +
      'Run `npm run config:upgrade` to merge new fields into your config.',
  ];
}

function repeatedNames(config: Config, file: string): string[] {
  const lists = { models: config.models, tool_groups: config.tool_groups, tools: config.tools ?? [] };
  return Object.entries(lists).flatMap(([key, entries]) => {
    const names = entries.map(({ name }) => name);
    const repeated = new Set(names.filter((name, index) => names.indexOf(name) !== index));
    return [...repeated].map((name) => `${file}: ${key}: "${name}" is there more than once; the first one counts`);
  });
}

function readBytes(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    throw configError(basename(path), [], `expected a readable file (${code})`);
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
