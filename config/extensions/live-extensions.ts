import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { AppError, isAppError } from '../../contracts';
import type { Extensions } from '../../contracts/schemas/extensions';
import { configError } from '../config-error';
import { fileMark } from '../live/file-mark';
import type { ConfigLog } from '../live/live-config';
import type { ConfigLocation } from '../locate-config';
import { EXTENSIONS_FILE, locateExtensions, newExtensionsPath } from './locate-extensions';
import type { ExtensionsDocument } from './parse-extensions';
import { parseExtensionsText, resolveExtensions, setKeys } from './parse-extensions';
import { writeExtensions } from './write-extensions';

export interface LiveExtensions {
  /** The newest valid revision. Every read looks whether the file has changed, whoever changed it. */
  current(): Extensions;
  /** The same revision with references to variables instead of what these hold. */
  written(): ExtensionsDocument;
  /** Whether `config.yaml` sets this key itself, so that the file's has no effect. */
  isOverridden(key: string): boolean;
  /**
   * Writes a new revision from the newest one; the next read has it, in every process. Rejects with what `change`
   * throws, with `bad_request` where its result is not valid, and with `unavailable` where the file cannot be changed.
   */
  update(change: (document: ExtensionsDocument) => ExtensionsDocument, signal: AbortSignal): Promise<void>;
}

export interface LiveExtensionsOptions {
  location: ConfigLocation;
  /** The section `extensions` of `config.yaml` as it is written now; the same object as long as it is the same. */
  overrides?: () => ExtensionsDocument;
  log: ConfigLog;
  now?: () => number;
}

const NOTHING: ExtensionsDocument = {};
const SECTION = 'config.yaml: extensions';

/** Throws where a file was named that is not there, or where the first revision is not valid. */
export function openLiveExtensions(options: LiveExtensionsOptions): LiveExtensions {
  const { location, log, overrides = () => NOTHING, now = Date.now } = options;
  const locate = (): string | null => locateExtensions(location);
  let mark: string | null = null;
  /** Revision, good or bad, that was dealt with last. */
  let handled: string | null = null;
  let path: string | null = null;
  let document = NOTHING;
  let overriddenBy = overrides();
  /** The section that was dealt with last, good or bad. */
  let section = overriddenBy;
  let value: Extensions | null = null;

  function read(): { found: string | null; bytes: Uint8Array | null; revision: string } {
    const found = locate();
    if (found === null) return { found, bytes: null, revision: 'no file' };
    let bytes: Uint8Array;
    try {
      bytes = readFileSync(found);
    } catch {
      throw configError(basename(found), [], 'expected a readable file');
    }
    const hash = createHash('sha256').update(`${found}\0`).update(bytes);
    return { found, bytes, revision: hash.digest('hex') };
  }

  function accept({ found, bytes }: ReturnType<typeof read>): void {
    if (found === null && path !== null) throw configError(basename(path), [], 'the file is gone');
    const file = found === null ? EXTENSIONS_FILE : basename(found);
    const fresh = bytes === null ? NOTHING : parseExtensionsText(bytes, file);
    value = resolveExtensions(fresh, location.env, { file, overrides: overriddenBy });
    document = fresh;
    path = found;
  }

  function look(): void {
    const seen = fileMark(locate, now());
    if (seen !== null && seen === mark) return;
    let revision: string | null = null;
    try {
      const file = read();
      revision = file.revision;
      if (revision !== handled) {
        handled = revision;
        accept(file);
      }
      mark = seen;
    } catch (error) {
      if (value === null || !isAppError(error, 'configuration')) throw error;
      const bad = revision ?? error.message;
      if (revision !== null || bad !== handled) {
        log.warn({ fault: error.message }, 'the extensions file cannot be used; the earlier revision stays in force');
      }
      handled = bad;
      mark = revision === null ? null : seen;
    }
  }

  /** The other file may have changed: its section is read again with what is in force of this one. */
  function lookAtOverrides(): void {
    const newest = overrides();
    if (newest === section) return;
    section = newest;
    try {
      value = resolveExtensions(document, location.env, { file: SECTION, overrides: newest });
      overriddenBy = newest;
    } catch (error) {
      if (!isAppError(error, 'configuration')) throw error;
      log.warn({ fault: error.message }, 'the section cannot be used; the earlier extensions stay in force');
    }
  }

  function current(): Extensions {
    lookAtOverrides();
    look();
    if (value === null) throw new AppError('internal', 'No extensions were read');
    return value;
  }

  current();
  return {
    current,
    written() {
      current();
      return { ...document, ...setKeys(overriddenBy) };
    },
    isOverridden(key) {
      current();
      return Object.hasOwn(setKeys(overriddenBy), key);
    },
    update(change, signal) {
      current();
      const target = path ?? newExtensionsPath(location);
      return writeExtensions({ path: target, isNew: path === null, env: location.env, change, signal });
    },
  };
}
