/**
 * The one catalogue of errors that leave a module. A code decides the HTTP status and whether trying again can help;
 * `docs/errors.md` explains each to users and a test keeps the two equal.
 */

interface ErrorKind {
  /** HTTP status where the error reaches a client. */
  status: number;
  /** Whether the same attempt can succeed later without anybody changing anything. */
  retryable: boolean;
}

export const ERROR_CATALOGUE = {
  invalid_request: { status: 422, retryable: false },
  invalid_message: { status: 400, retryable: false },
  model_not_allowed: { status: 400, retryable: false },
  thinking_required: { status: 400, retryable: false },
  checkpoint_mismatch: { status: 400, retryable: false },
  bad_request: { status: 400, retryable: false },
  not_authenticated: { status: 401, retryable: false },
  forbidden: { status: 403, retryable: false },
  thread_not_found: { status: 404, retryable: false },
  run_not_found: { status: 404, retryable: false },
  checkpoint_not_found: { status: 404, retryable: false },
  not_found: { status: 404, retryable: false },
  method_not_allowed: { status: 405, retryable: false },
  thread_exists: { status: 409, retryable: false },
  thread_busy: { status: 409, retryable: true },
  run_not_cancellable: { status: 409, retryable: false },
  idempotency_conflict: { status: 409, retryable: false },
  queue_full: { status: 409, retryable: true },
  conflict: { status: 409, retryable: false },
  precondition_failed: { status: 412, retryable: false },
  too_large: { status: 413, retryable: false },
  unsupported_media: { status: 415, retryable: false },
  range_not_satisfiable: { status: 416, retryable: false },
  unavailable: { status: 503, retryable: true },
  internal: { status: 500, retryable: false },
  /** The run reached a terminal status while an activity was still at work: its writes are refused. */
  run_closed: { status: 409, retryable: false },
  /** The step is already in the log: a retry found what an earlier attempt committed. */
  already_committed: { status: 409, retryable: false },
  run_cancelled: { status: 409, retryable: false },
  recursion_limit: { status: 500, retryable: false },
  configuration: { status: 500, retryable: false },
  model_not_configured: { status: 500, retryable: false },
  /** The request is longer than the model can read, also after its older part was left out. */
  model_context_length: { status: 502, retryable: false },
  model_rejected: { status: 502, retryable: false },
  model_rate_limited: { status: 429, retryable: true },
  model_unavailable: { status: 502, retryable: true },
  model_empty_reply: { status: 502, retryable: true },
  model_quota: { status: 502, retryable: false },
  model_auth: { status: 502, retryable: false },
  /** The call was never made: too many wait for their turn, or the wait was too long. */
  model_admission: { status: 503, retryable: false },
  /** The model failed too often in a row and is left alone for a while. */
  model_circuit_open: { status: 503, retryable: false },
  artifact_delivery: { status: 500, retryable: false },
  tool_failed: { status: 500, retryable: false },
  sandbox: { status: 500, retryable: false },
  unsafe_url: { status: 400, retryable: false },
  orphaned: { status: 500, retryable: false },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;

/** An error with a code of the catalogue. The message is safe to show to the user it concerns. */
export class AppError extends Error {
  override readonly name: string = 'AppError';

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly options: { cause?: unknown; detail?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
  }

  get status(): number {
    return ERROR_CATALOGUE[this.code].status;
  }

  get retryable(): boolean {
    return ERROR_CATALOGUE[this.code].retryable;
  }
}

export function isAppError(error: unknown, code?: ErrorCode): error is AppError {
  return error instanceof AppError && (code === undefined || error.code === code);
}
