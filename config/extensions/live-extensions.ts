import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { isAppError } from '../../contracts';
import type { Extensions } from '../../contracts/schemas/extensions';
import { configError } from '../config-error';
import { fileMark } from '../live/file-mark';
import type { ConfigLog } from '../live/live-config';
import type { ConfigLocation } from '../locate-config';
import { EXTENSIONS_FILE, locateExtensions, newExtensionsPath } from './locate-extensions';
import type { ExtensionsDocument } from './parse-extensions';
import { parseExtensionsText, resolveExtensions } from './parse-extensions';
import { writeExtensions } from './write-extensions';

export interface LiveExtensions {
  /** The newest valid revision. Every read looks whether the file has changed, whoever changed it. */
  current(): Extensions;
  /** Writes a new revision from the newest one; the next read has it, in every process. */
  update(change: (document: ExtensionsDocument) => ExtensionsDocument, signal: AbortSignal): Promise<void>;
}

export interface LiveExtensionsOptions {
  location: ConfigLocation;
  /** The section `extensions` of `config.yaml` as it is now. */
  overrides?: () => ExtensionsDocument;
  log: ConfigLog;
  now?: () => number;
}

const NOTHING: ExtensionsDocument = {};

/** Throws where a file was named that is not there, or where the first revision is not valid. */
export function openLiveExtensions(options: LiveExtensionsOptions): LiveExtensions {
  const { location, log, overrides = () => NOTHING, now = Date.now } = options;
  const locate = (): string | null => locateExtensions(location);
  let mark: string | null = null;
  /** Revision, good or bad, that was dealt with last. */
  let handled: string | null = null;
  let path: string | null = null;
  let document = NOTHING;
  let overriddenBy: ExtensionsDocument | null = null;
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
    const section = overrides();
    value = resolveExtensions(fresh, location.env, { file, overrides: section });
    document = fresh;
    overriddenBy = section;
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
  function withOverrides(): Extensions {
    const section = overrides();
    if (value !== null && overriddenBy === section) return value;
    const file = path === null ? EXTENSIONS_FILE : basename(path);
    value = resolveExtensions(document, location.env, { file, overrides: section });
    overriddenBy = section;
    return value;
  }

  const live: LiveExtensions = {
    current() {
      look();
      return withOverrides();
    },
    update: (change, signal) =>
      writeExtensions({ path: path ?? locate() ?? newExtensionsPath(location), env: location.env, change, signal }),
  };
  live.current();
  return live;
}
