import { AppError, isAppError } from '../../contracts';
import { configError } from '../config-error';
import { configFileName, parseConfigFile, readConfigFile } from '../load-config';
import type { ConfigFile, ConfigDocument, LoadedConfig } from '../load-config';
import { locateConfig } from '../locate-config';
import type { ConfigLocation } from '../locate-config';
import { fileMark } from './file-mark';
import { changedStartupKeys, withKeysOf } from './startup-only';

/** The newest configuration that is valid, in a process that goes on while its file is edited. */
export interface LiveConfig {
  /** Throws `unavailable` only where there never was a valid one. */
  current(): LoadedConfig;
  /** What is wrong with the file as it is now; null while the file is what is in force. */
  fault(): string | null;
  /**
   * Looks by itself, so that a process with nothing to do knows what was valid last and says early what is wrong.
   * Returns what ends it; the process need not wait for that.
   */
  watch(): () => void;
}

/** The part of a logger that is needed here. */
export interface ConfigLog {
  info(details: object, text: string): void;
  warn(details: object, text: string): void;
  error(details: object, text: string): void;
}

export interface LiveConfigOptions {
  location: ConfigLocation;
  /** What the process started with; null where it had none. */
  first: LoadedConfig | null;
  log: ConfigLog;
  now?: () => number;
}

/** Whoever reads often does not look at the file each time. */
const LOOK_INTERVAL_MS = 10;
const WATCH_INTERVAL_MS = 250;

export function createLiveConfig({ location, first, log, now = Date.now }: LiveConfigOptions): LiveConfig {
  let good = first;
  let started = first?.document ?? null;
  /** What the file of the newest good configuration says, startup-only keys included. */
  let written: ConfigDocument | null = started;
  let fault: string | null = null;
  /** Content, or absence, that was dealt with last. */
  let handled: string | null = first?.signature ?? null;
  let mark: string | null = null;
  let lookedAt = Number.NEGATIVE_INFINITY;

  function accept(file: ConfigFile): void {
    if (file.path === null && good !== null && good.path !== null) {
      throw configError(configFileName(good.path), [], 'expected the file to be there; it is gone');
    }
    // A file that no process could start with is not taken in parts.
    const asWritten = parseConfigFile(file, location.env);
    const fresh = asWritten.document;
    const kept = started;
    const loaded =
      kept === null ? asWritten : parseConfigFile(file, location.env, (document) => withKeysOf(document, kept));
    const late = written === null ? [] : changedStartupKeys(written, fresh);
    for (const warning of loaded.warnings) if (good?.warnings.includes(warning) !== true) log.warn({}, warning);
    if (late.length > 0) log.warn({ keys: late }, `takes effect after a restart: ${late.join(', ')}`);
    if (good !== null && good.signature !== loaded.signature) {
      log.info({}, 'the configuration has changed and was read again');
    } else if (fault !== null) {
      log.info({}, 'the configuration is as it was before it became unusable');
    }
    good = loaded;
    started ??= fresh;
    written = fresh;
    fault = null;
  }

  function refuse(error: unknown): void {
    if (!isAppError(error, 'configuration')) throw error;
    fault = error.message;
    log.error({ fault }, 'the configuration cannot be used; the newest valid one stays in force');
  }

  /** Who writes a file in its place empties it first: one that was just emptied does not count yet. */
  function isJustEmptied({ path, bytes }: ConfigFile): boolean {
    return path !== null && bytes.byteLength === 0 && good !== null && good.path !== null;
  }

  function look(): void {
    const seen = fileMark(() => locateConfig(location), now());
    if (seen !== null && seen === mark) return;
    let file: ConfigFile | null = null;
    try {
      file = readConfigFile(location);
      if (seen === null && isJustEmptied(file)) return;
      if (file.signature !== handled) {
        handled = file.signature;
        accept(file);
      }
    } catch (error) {
      // A file that cannot be read has no content; what is said about it takes its place.
      const content = file?.signature ?? (error instanceof Error ? error.message : '');
      if (file !== null || content !== handled) refuse(error);
      handled = content;
    }
    // What could not be read is tried again, whether it changes or not.
    mark = file === null ? null : seen;
  }

  function lookSometimes(): void {
    const time = now();
    if (time - lookedAt < LOOK_INTERVAL_MS && time >= lookedAt) return;
    lookedAt = time;
    look();
  }

  return {
    current() {
      lookSometimes();
      if (good === null) throw new AppError('unavailable', 'Configuration not available');
      return good;
    },
    fault() {
      lookSometimes();
      return fault;
    },
    watch() {
      const timer = setInterval(() => {
        try {
          lookSometimes();
        } catch (error) {
          log.error({ err: error }, 'the configuration could not be looked at');
        }
      }, WATCH_INTERVAL_MS).unref();
      return () => clearInterval(timer);
    },
  };
}
