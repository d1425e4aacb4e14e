import { basename } from 'node:path';
import { AppError } from '../../contracts';
import type { ThreadDirectories } from '../../core/thread-paths';
import { readArchiveMember } from './archive-member';
import type { ArtifactPath } from './artifact-path';
import { archiveMember } from './artifact-path';
import type { Content } from './content';
import { bufferContent, fileContent } from './content';
import { leadsNowhere } from './file-errors';

import type { OpenFile } from './open-inside';
import { openInside } from './open-inside';
import { isStagingName } from './upload-names';

export interface Artifact {
  content: Content;
  name: string;
  cacheControl: string;
}

/** A file changes under its name while agents work, so browsers must ask each time; they get 304 where it has not. */
const FILE_CACHING = 'private, no-cache';
const MEMBER_CACHING = 'private, max-age=300';

/** A file of the thread, or a file within a `.skill` archive of it. */
export async function readArtifact(
  directories: ThreadDirectories,
  path: ArtifactPath,
  signal: AbortSignal,
): Promise<Artifact> {
  const name = basename(path.host);
  const member = archiveMember(path);
  // Archives come first, as they are files; a directory of that name is entered like any other.
  if (member !== null) {
    const archive = await openOrNull(directories, member.archive);
    if (archive !== null) {
      const bytes = await readArchiveMember(archive, { member: member.member, shown: path.shown, signal });
      return { content: bufferContent(bytes, null), name, cacheControl: MEMBER_CACHING };
    }
  }
  if (isStagingName(name)) throw notFound(path);
  return { content: await fileContent(await openOrThrow(directories, path)), name, cacheControl: FILE_CACHING };
}

async function openOrThrow(directories: ThreadDirectories, path: ArtifactPath): Promise<OpenFile> {
  try {
    return await openInside(directories.userData, path.host, path.shown);
  } catch (error) {
    throw leadsNowhere(error) ? notFound(path) : error;
  }
}

/** Null where there is a directory. */
async function openOrNull(directories: ThreadDirectories, path: ArtifactPath): Promise<OpenFile | null> {
  try {
    return await openOrThrow(directories, path);
  } catch (error) {
    if (error instanceof AppError && error.code === 'bad_request') return null;
    throw error;
  }
}

function notFound(path: ArtifactPath): AppError {
  return new AppError('not_found', `Artifact not found: ${path.shown}`);
}
