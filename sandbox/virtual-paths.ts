/**
 * The paths that an agent sees, and what they stand for. Everything here is about text: that
 * the real file lies where its path says is checked when it is opened.
 */
import { posix } from 'node:path';
import { AppError } from '../contracts';

export const USER_DATA_ROOT = '/mnt/user-data';
export const WORKSPACE_ROOT = '/mnt/user-data/workspace';
export const UPLOADS_ROOT = '/mnt/user-data/uploads';
export const OUTPUTS_ROOT = '/mnt/user-data/outputs';
export const ACP_ROOT = '/mnt/acp-workspace';

export type PathIntent = 'read' | 'write';

export interface Mount {
  virtual: string;
  host: string;
  writable: boolean;
  /** Host directories, links resolved, in which every file reached through this mount must really lie. */
  scope(): Promise<string[]>;
}

export interface PathTable {
  /** Longest virtual path first. */
  readonly mounts: readonly Mount[];
  /** What an agent may name at all, for error texts. */
  readonly roots: readonly string[];
}

/** A virtual path and the host path behind it; without a mount it is a parent that only exists as a listing. */
export interface ResolvedPath {
  virtual: string;
  mount: Mount | null;
  host: string | null;
}

export function createPathTable(mounts: readonly Mount[], roots: readonly string[]): PathTable {
  return { mounts: [...mounts].sort((a, b) => b.virtual.length - a.virtual.length), roots: [...new Set(roots)] };
}

/** Whether `path` is `root` or lies below it, on a segment boundary. */
export function isWithin(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith('/') ? root : `${root}/`);
}

export function hasParentSegment(path: string): boolean {
  return path.replaceAll('\\', '/').split('/').includes('..');
}

/** One spelling for each path: no empty or `.` segments, no closing slash. `..` is left for the access check. */
export function normaliseVirtualPath(path: string): string {
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.');
  return `${path.startsWith('/') ? '/' : ''}${segments.join('/')}`;
}

export function resolveVirtualPath(table: PathTable, path: string, intent: PathIntent): ResolvedPath {
  if (path.includes('\0')) throw new AppError('forbidden', 'Access denied: the path contains a NUL character');
  if (hasParentSegment(path)) throw traversal(path);
  const virtual = normaliseVirtualPath(path);
  if (!table.roots.some((root) => isWithin(virtual, root))) {
    throw new AppError(
      'forbidden',
      `Access denied: ${quote(path)} is outside the allowed directories. Allowed: ${table.roots.join(', ')}`,
    );
  }
  const mount = table.mounts.find((candidate) => isWithin(virtual, candidate.virtual)) ?? null;
  if (!mount && virtual !== USER_DATA_ROOT && isWithin(virtual, USER_DATA_ROOT)) throw traversal(path);
  if (intent === 'write' && !mount?.writable) {
    throw new AppError('forbidden', `Access denied: ${quote(virtual)} is read-only`);
  }
  if (!mount) return { virtual, mount: null, host: null };
  return { virtual, mount, host: posix.join(mount.host, virtual.slice(mount.virtual.length)) };
}

/** Names of the mounts, or of the parents of mounts, directly below a virtual directory. */
export function childMountNames(table: PathTable, virtual: string): string[] {
  const below = table.mounts.filter((mount) => mount.virtual !== virtual && isWithin(mount.virtual, virtual));
  return [...new Set(below.map((mount) => mount.virtual.slice(virtual.length + 1).split('/')[0] ?? ''))];
}

export function traversal(path: string): AppError {
  return new AppError('forbidden', `Access denied: path traversal in ${quote(path)}`);
}

function quote(path: string): string {
  return `'${path.length > 200 ? `${path.slice(0, 200)}…` : path}'`;
}
