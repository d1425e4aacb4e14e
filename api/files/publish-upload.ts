import { link, lstat, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { errorCode } from './file-errors';
import type { StagedUpload } from './receive-uploads';
import { discard } from './receive-uploads';
import { numberedName } from './upload-names';

export interface PublishedUpload {
  name: string;
  originalName: string;
  size: number;
}

export interface PublishResult {
  published: PublishedUpload[];
  /** Names whose place is taken by a link or something else that is no plain file. */
  skipped: string[];
}

/** A directory with this many files of one name is no use to anybody. */
const MAX_NUMBER = 10_000;

/**
 * Gives staged files their names. A name that is taken is never replaced: the file gets the next free `_N`. Linking
 * fails where the name exists, so this holds against uploads and agents at work at the same time. All or nothing:
 * where one file cannot be published, those before it are withdrawn.
 */
export async function publishUploads(directory: string, staged: readonly StagedUpload[]): Promise<PublishResult> {
  const result: PublishResult = { published: [], skipped: [] };
  try {
    for (const upload of staged) {
      const name = await publish(directory, upload);
      if (name === null) result.skipped.push(upload.name);
      else result.published.push({ name, originalName: upload.name, size: upload.size });
    }
    return result;
  } catch (error) {
    await discard(result.published.map(({ name }) => join(directory, name)));
    throw error;
  } finally {
    await discard(staged.map(({ staging }) => staging));
  }
}

async function publish(directory: string, upload: StagedUpload): Promise<string | null> {
  for (let number = 0; number <= MAX_NUMBER; number += 1) {
    const name = numberedName(upload.name, number);
    try {
      await link(upload.staging, join(directory, name));
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
      if (number === 0 && !(await isPlainFile(join(directory, name)))) return null;
      continue;
    }
    await rm(upload.staging, { force: true });
    return name;
  }
  return null;
}

const PATIENCE_MS = [10, 40, 150];

/** A file with a second name may be one that is being published just now; that takes moments only. */
async function isPlainFile(path: string): Promise<boolean> {
  for (const patience of [...PATIENCE_MS, 0]) {
    const found = await lstat(path).catch(() => null);
    // Gone in the meantime: the name is free again, which the next attempt under another name need not know.
    if (found === null) return true;
    if (!found.isFile()) return false;
    if (found.nlink === 1) return true;
    await delay(patience);
  }
  return false;
}
