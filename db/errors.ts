import { AppError } from '../contracts';

/** SQLSTATEs that our own functions raise. */
const RUN_CLOSED = 'DF001';
const THREAD_GONE = 'DF002';
const ALREADY_COMMITTED = 'DF003';
const UNIQUE_VIOLATION = '23505';

const CONNECTION_CLASSES = ['08', '53', '57'];
const CONNECTION_ERRNOS = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN']);
const CONNECTION_MESSAGES =
  /connection terminated|timeout exceeded when trying to connect|client has encountered|query read timeout/i;

/** By form and not by class: errors of the network come from outside of a test's own world. */
function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** Whether the database was out of reach, so that the same statement can succeed later. */
export function isDatabaseUnavailable(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== undefined && (CONNECTION_ERRNOS.has(code) || CONNECTION_CLASSES.includes(code.slice(0, 2)))) return true;
  if (error instanceof AggregateError) return error.errors.some(isDatabaseUnavailable);
  return error instanceof Error && CONNECTION_MESSAGES.test(error.message);
}

export function isUniqueViolation(error: unknown): boolean {
  return codeOf(error) === UNIQUE_VIOLATION;
}

/** Runs a statement and turns what our functions raise into errors of the catalogue. */
export async function translateErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const code = codeOf(error);
    if (code === RUN_CLOSED) throw new AppError('run_closed', 'The run has ended.', { cause: error });
    if (code === THREAD_GONE) throw new AppError('thread_not_found', 'The thread was deleted.', { cause: error });
    if (code === ALREADY_COMMITTED) {
      throw new AppError('already_committed', 'The step is already committed.', { cause: error });
    }
    if (isDatabaseUnavailable(error)) {
      throw new AppError('unavailable', 'The database is not available.', { cause: error });
    }
    throw error;
  }
}
