import { statSync } from 'node:fs';
import type { LoadedConfig } from '../config';
import type { Config } from '../contracts/schemas/config';
import type { Logger } from '../observability';

/** The file is looked at no more often than this. */
const LOOK_INTERVAL_MS = 1_000;

/**
 * The configuration as it is now: the file is read again when it has changed. A file that has become wrong changes
 * nothing; the log says why.
 */
export function createCurrentConfig(first: LoadedConfig, load: () => LoadedConfig, log: Logger): () => Config {
  let current = first;
  let seen = fileMark(first.path);
  let lookedAt = Date.now();
  return () => {
    if (Date.now() - lookedAt < LOOK_INTERVAL_MS) return current.config;
    lookedAt = Date.now();
    const mark = fileMark(current.path);
    if (mark === seen) return current.config;
    seen = mark;
    try {
      current = load();
      log.info('the configuration has changed and was read again');
    } catch (error) {
      log.error({ err: error }, 'the configuration has changed but cannot be used; the earlier one stays in force');
    }
    return current.config;
  };
}

function fileMark(path: string | null): string {
  if (path === null) return '';
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.mtimeMs}:${found.size}:${found.ino}`;
}
