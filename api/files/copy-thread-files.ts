import type { Dirent } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { mkdir } from 'node:fs/promises';
import type { ThreadDirectories } from '../../core/thread-paths';
import { readRange } from './content';
import { errorCode, leadsNowhere } from './file-errors';
import { openInside } from './open-inside';
import { ensureThreadDirectories, threadLayout } from './thread-directories';
import { isStagingName } from './upload-names';

export interface CopyRequest {
  owner: string;
  fromThreadId: string;
  toThreadId: string;
  signal: AbortSignal;
  limits?: CopyLimits;
}

export interface CopyLimits {
  maxFiles: number;
  /** Bytes of all files together. */
  maxBytes: number;
  maxDepth: number;
}

export interface CopyReport {
  /** Whether the source has files at all. */
  found: boolean;
  files: number;
  bytes: number;
  /** Links, sockets and the like, and files that vanished or could not be read. */
  skipped: number;
  /** A limit was reached: the copy is incomplete. */
  truncated: boolean;
}

const DEFAULT_LIMITS: CopyLimits = { maxFiles: 5_000, maxBytes: 1_073_741_824, maxDepth: 32 };

/** What one run of an agent left behind for its own use is of no use to another thread. */
const NOT_COPIED = new Set(['.browser-frames', '.mcp']);

/**
 * Gives a branch of a thread its own copy of the workspace, uploads and outputs. Links are not copied: they could lead
 * out of the thread. What is in the new thread already stays as it is.
 */
export async function copyThreadFiles(home: string, request: CopyRequest): Promise<CopyReport> {
  const layout = threadLayout(home);
  const from = layout.directories(request.owner, request.fromThreadId);
  const to = layout.directories(request.owner, request.toThreadId);
  const report: CopyReport = {
    found: await isDirectory(from.userData),
    files: 0,
    bytes: 0,
    skipped: 0,
    truncated: false,
  };
  if (!report.found) return report;
  await ensureThreadDirectories(to);
  const copy = { from, to, report, signal: request.signal, limits: request.limits ?? DEFAULT_LIMITS };
  for (const name of ['workspace', 'uploads', 'outputs']) {
    if (await isDirectory(join(from.userData, name))) await copyDirectory(copy, name, 0);
  }
  return report;
}

interface Copy {
  from: ThreadDirectories;
  to: ThreadDirectories;
  report: CopyReport;
  signal: AbortSignal;
  limits: CopyLimits;
}

async function isDirectory(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null))?.isDirectory() ?? false;
}

async function copyDirectory(copy: Copy, path: string, depth: number): Promise<void> {
  const { report, limits, signal } = copy;
  if (depth > limits.maxDepth) {
    report.truncated = true;
    return;
  }
  const entries = await readdir(join(copy.from.userData, path), { withFileTypes: true }).catch(() => [] as Dirent[]);
  for (const entry of entries) {
    signal.throwIfAborted();
    if (report.truncated) return;
    if (NOT_COPIED.has(entry.name) || isStagingName(entry.name)) continue;
    const child = join(path, entry.name);
    if (entry.isDirectory()) {
      await makeDirectory(join(copy.to.userData, child));
      await copyDirectory(copy, child, depth + 1);
    } else if (entry.isFile()) {
      await copyFile(copy, child);
    } else {
      report.skipped += 1;
    }
  }
}

/** Open to everybody, like the directories above it. */
async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    return;
  }
  const handle = await open(path);
  await handle.chmod(0o777).finally(() => handle.close());
}

async function copyFile({ from, to, report, limits, signal }: Copy, path: string): Promise<void> {
  // Directories can be swapped for links while we walk: what is opened must lie in the thread.
  const file = await openInside(from.userData, join(from.userData, path), path).catch(() => null);
  if (file === null) {
    report.skipped += 1;
    return;
  }
  try {
    const size = Number(file.stats.size);
    if (report.files + 1 > limits.maxFiles || report.bytes + size > limits.maxBytes) {
      report.truncated = true;
      return;
    }
    const target = await open(join(to.userData, path), 'wx', Number(file.stats.mode) & 0o777);
    try {
      for await (const chunk of readRange(file.handle, 0, size - 1)) {
        signal.throwIfAborted();
        await target.writeFile(chunk);
      }
      await target.chmod(Number(file.stats.mode) & 0o777);
    } finally {
      await target.close();
    }
    report.files += 1;
    report.bytes += size;
  } catch (error) {
    // There already, or a part of its path is.
    if (errorCode(error) !== 'EEXIST' && !leadsNowhere(error)) throw error;
    report.skipped += 1;
  } finally {
    await file.handle.close();
  }
}
