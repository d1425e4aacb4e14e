import { AppError } from '../../contracts';
import type { ThreadDirectories } from '../../core/thread-paths';
import { traversal } from './open-inside';

const ROOT = 'mnt/user-data';
const OUTPUTS = `${ROOT}/outputs`;

/** An artifact as a request names it: its path as the client may read it again, and where that is on the host. */
export interface ArtifactPath {
  /** Without a leading slash: `mnt/user-data/outputs/report.md`. */
  shown: string;
  host: string;
  /** Names below `mnt/user-data`. */
  segments: string[];
}

/** @param path as it was decoded: a slash that was encoded in the address counts as one here. */
export function artifactPath(directories: ThreadDirectories, path: string): ArtifactPath {
  if (path.includes('\0')) throw new AppError('bad_request', 'Invalid path');
  if (path.replaceAll('\\', '/').split('/').includes('..')) throw traversal();
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.');
  const shown = segments.join('/');
  if (shown !== ROOT && !shown.startsWith(`${ROOT}/`)) {
    throw new AppError('bad_request', `Path must start with /${ROOT}`);
  }
  const below = segments.slice(2);
  return { shown, host: [directories.userData, ...below].join('/'), segments: below };
}

/** Only what agents hand over can be edited. */
export function requireOutput(path: ArtifactPath): void {
  if (path.shown.startsWith(`${OUTPUTS}/`)) return;
  throw new AppError('bad_request', `Only files below /${OUTPUTS} can be edited`);
}

/** `a/x.skill/inner/file` as the archive and what is asked of it; null where the path enters no archive. */
export function archiveMember(path: ArtifactPath): { archive: ArtifactPath; member: string } | null {
  const at = path.segments.findIndex((segment) => segment.toLowerCase().endsWith('.skill'));
  const inner = path.segments.length - at - 1;
  if (at === -1 || inner === 0) return null;
  return {
    archive: {
      shown: path.shown.split('/').slice(0, -inner).join('/'),
      host: path.host.split('/').slice(0, -inner).join('/'),
      segments: path.segments.slice(0, at + 1),
    },
    member: path.segments.slice(at + 1).join('/'),
  };
}
