import { createHash, randomUUID } from 'node:crypto';
import { isUtf8 } from 'node:buffer';
import { lstat, open, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { AppError } from '../../contracts';
import type { ThreadDirectories } from '../../core/thread-paths';
import type { ArtifactPath } from './artifact-path';
import { fileContent, HASHED_BYTES } from './content';
import { leadsNowhere } from './file-errors';
import { isInside, notAFile, openInside, traversal } from './open-inside';
import { stagingName } from './upload-names';

export interface ArtifactEdit {
  content: string;
  /** SHA-256 of what the editor was opened with. */
  expectedSha256: string;
}

export interface EditedArtifact {
  path: string;
  sha256: string;
  size: number;
}

/**
 * Replaces a text file at once, if it is still what the editor was opened with. The caller keeps runs and other edits
 * of the thread away meanwhile.
 */
export async function editArtifact(
  directories: ThreadDirectories,
  path: ArtifactPath,
  edit: ArtifactEdit,
): Promise<EditedArtifact> {
  const bytes = Buffer.from(edit.content, 'utf8');
  if (bytes.length > HASHED_BYTES) throw tooLarge();
  if (bytes.includes(0) || !edit.content.isWellFormed()) throw notText();
  try {
    const target = await placeOf(directories, path);
    const { hash, mode } = await currentState(directories, target, path);
    if (hash !== edit.expectedSha256.toLowerCase()) {
      throw new AppError('precondition_failed', 'Artifact changed since it was opened');
    }
    await replace(target, bytes, mode);
  } catch (error) {
    throw leadsNowhere(error) ? new AppError('not_found', `Artifact not found: /${path.shown}`) : error;
  }
  return { path: `/${path.shown}`, sha256: sha256(bytes), size: bytes.length };
}

/** Whether the name rules an edit out, whatever the file holds. */
export function requireEditableName(path: ArtifactPath): void {
  if (path.segments.some((segment) => segment.toLowerCase().endsWith('.skill'))) {
    throw new AppError('unsupported_media', 'Skill archives cannot be edited');
  }
}

/** The real place of the file, which must lie in the outputs themselves and be no link. */
async function placeOf(directories: ThreadDirectories, path: ArtifactPath): Promise<string> {
  const outputs = await realpath(directories.outputs);
  const parent = await realpath(dirname(path.host));
  if (!isInside(outputs, await realpath(directories.userData)) || !isInside(parent, outputs)) throw traversal();
  const target = join(parent, basename(path.host));
  const found = await lstat(target);
  if (found.isSymbolicLink()) throw new AppError('unsupported_media', 'Links cannot be edited');
  if (!found.isFile()) throw notAFile(`/${path.shown}`);
  return target;
}

async function currentState(directories: ThreadDirectories, target: string, path: ArtifactPath) {
  const file = await openInside(directories.outputs, target, `/${path.shown}`);
  if (file.stats.size > BigInt(HASHED_BYTES)) {
    await file.handle.close();
    throw tooLarge();
  }
  const content = await fileContent(file);
  const chunks: Buffer[] = [];
  for await (const chunk of content.read(0, content.size - 1)) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  if (bytes.includes(0) || !isUtf8(bytes)) throw notText();
  return { hash: sha256(bytes), mode: Number(file.stats.mode) & 0o777 };
}

/** Written beside the file and renamed over it: a reader sees the old text or the new one, never a part. */
async function replace(target: string, bytes: Buffer, mode: number): Promise<void> {
  const staging = join(dirname(target), stagingName(randomUUID()));
  try {
    const handle = await open(staging, 'wx', mode);
    try {
      await handle.writeFile(bytes);
      await handle.chmod(mode);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(staging, target);
  } finally {
    await rm(staging, { force: true });
  }
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function tooLarge(): AppError {
  return new AppError('too_large', `Only files up to ${HASHED_BYTES} bytes can be edited`);
}

function notText(): AppError {
  return new AppError('unsupported_media', 'Only UTF-8 text files can be edited');
}
