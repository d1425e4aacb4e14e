/** The optional `.env` file: DEER_FLOW_ENV_FILE, or `.env` in the project root. Variables that are set always win. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'dotenv';
import { configError } from './config-error';
import type { EnvironmentVariables } from './environment-variables';
import { projectRoot } from './locate-config';

const SWITCHED_OFF = ['1', 'true', 't', 'yes', 'y'];

/** Returns the variables with those of the file added. No error ever shows the file's content. */
export function withEnvironmentFile(env: EnvironmentVariables, cwd: string): EnvironmentVariables {
  const named = env.DEER_FLOW_ENV_FILE;
  const off = SWITCHED_OFF.includes((env.PYTHON_DOTENV_DISABLED ?? '').toLowerCase());
  if (named === undefined) {
    if (off) return env;
    const bytes = readIfPresent(resolve(projectRoot(env, cwd), '.env'));
    return bytes === null ? env : merge(env, bytes, '.env');
  }
  if (named === '') throw configError('DEER_FLOW_ENV_FILE', [], 'expected the path of a file, got empty text');
  if (off) throw configError('DEER_FLOW_ENV_FILE', [], 'cannot be used while PYTHON_DOTENV_DISABLED is set');
  const bytes = readIfPresent(resolve(cwd, named));
  if (bytes === null) throw configError('DEER_FLOW_ENV_FILE', [], 'expected the path of a readable file');
  return merge(env, bytes, 'DEER_FLOW_ENV_FILE');
}

function merge(env: EnvironmentVariables, bytes: Uint8Array, source: string): EnvironmentVariables {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw configError(source, [], 'expected a file of UTF-8 text');
  }
  return { ...parse(text), ...withoutAbsent(env) };
}

function withoutAbsent(env: EnvironmentVariables): EnvironmentVariables {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined));
}

function readIfPresent(path: string): Uint8Array | null {
  try {
    return readFileSync(path);
  } catch {
    return null;
  }
}
