/** What the model is told when the file system refuses: the virtual path and the reason, never the host path. */
import { AppError, type ErrorCode } from '../contracts';

const REASONS: Record<string, [ErrorCode, string]> = {
  ENOENT: ['not_found', 'File not found'],
  ENOTDIR: ['not_found', 'File not found'],
  EACCES: ['forbidden', 'Permission denied'],
  EPERM: ['forbidden', 'Permission denied'],
  EROFS: ['forbidden', 'Permission denied'],
  ELOOP: ['forbidden', 'Access denied: the path changed to a symbolic link while it was opened'],
  EISDIR: ['bad_request', 'Path is a directory, not a file'],
  ENAMETOOLONG: ['bad_request', 'Path is too long'],
  ENOSPC: ['sandbox', 'No space left on the device'],
  EDQUOT: ['sandbox', 'Disk quota exceeded'],
  EMFILE: ['unavailable', 'Too many open files'],
  ENFILE: ['unavailable', 'Too many open files'],
};

/** The code of a system error. Told by its shape: errors of another realm are no instances of our `Error`. */
export function errorCode(error: unknown): string | undefined {
  const isCoded = typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string';
  return isCoded ? (error.code as string) : undefined;
}

/** An error of the file system as one that may be shown; everything else is returned as it is. */
export function fileError(error: unknown, virtual: string): unknown {
  const code = errorCode(error);
  if (error instanceof AppError || code === undefined || !/^E[A-Z0-9]+$/.test(code)) return error;
  const [kind, reason] = REASONS[code] ?? ['sandbox', `File operation failed (${code})`];
  const path = virtual.length > 300 ? `${virtual.slice(0, 300)}…` : virtual;
  return new AppError(kind, `${reason}: ${path}`, { cause: error });
}
