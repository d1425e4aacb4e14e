import type { Stats } from 'node:fs';
import { lstat, readdir, unlink } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { AppError } from '../../contracts';
import { leadsNowhere } from './file-errors';
import { isStagingName, safeUploadName } from './upload-names';

const VIRTUAL_UPLOADS = '/mnt/user-data/uploads';

/** An uploaded file as clients read it. Keys of document conversion are null: documents are not converted. */
export interface UploadedFile {
  filename: string;
  size: number;
  path: string;
  virtual_path: string;
  artifact_url: string;
  extension: string | null;
  /** Seconds since the epoch. */
  modified: number | null;
  /** What the client called it, where it had to be stored under another name. */
  original_filename: string | null;
  markdown_file: null;
  markdown_path: null;
  markdown_virtual_path: null;
  markdown_artifact_url: null;
}

interface FileFacts {
  name: string;
  size: number;
  extension?: string;
  modified?: number;
  originalName?: string;
}

/** `path` is the virtual path too: where files lie on the host is nobody's business. */
export function describeUpload(threadId: string, facts: FileFacts): UploadedFile {
  const virtualPath = `${VIRTUAL_UPLOADS}/${facts.name}`;
  return {
    filename: facts.name,
    size: facts.size,
    path: virtualPath,
    virtual_path: virtualPath,
    artifact_url: `/api/threads/${threadId}/artifacts${VIRTUAL_UPLOADS}/${encodeURIComponent(facts.name)}`,
    extension: facts.extension ?? null,
    modified: facts.modified ?? null,
    original_filename: facts.originalName ?? null,
    markdown_file: null,
    markdown_path: null,
    markdown_virtual_path: null,
    markdown_artifact_url: null,
  };
}

/** The plain files of the uploads directory by name: no links, no directories, no uploads under way. */
export async function listUploads(directory: string, threadId: string): Promise<UploadedFile[]> {
  const files: UploadedFile[] = [];
  for (const name of (await namesIn(directory)).sort()) {
    const found = isStagingName(name) ? null : await lstat(join(directory, name)).catch(() => null);
    if (!found?.isFile()) continue;
    const { size, mtimeMs } = found;
    files.push(describeUpload(threadId, { name, size, extension: extname(name), modified: mtimeMs / 1000 }));
  }
  return files;
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    // A link in its place could show any directory of the host.
    if (!(await lstat(directory)).isDirectory()) return [];
    return await readdir(directory);
  } catch (error) {
    if (leadsNowhere(error)) return [];
    throw error;
  }
}

/** Deletes one uploaded file. A file of the same name ending in `.md` stays: it is the user's, we convert nothing. */
export async function deleteUpload(directory: string, name: string): Promise<void> {
  if (safeUploadName(name) !== name) throw new AppError('bad_request', 'Invalid filename');
  const missing = (): AppError => new AppError('not_found', `File not found: ${name}`);
  try {
    const parent: Stats = await lstat(directory);
    const found = await lstat(join(directory, name));
    if (!parent.isDirectory() || !found.isFile()) throw missing();
    await unlink(join(directory, name));
  } catch (error) {
    throw leadsNowhere(error) ? missing() : error;
  }
}
