import { CancelledFailure, Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { AppError } from '../contracts';
import { isDatabaseUnavailable } from '../db';
import type { Logger } from '../observability';

/** An error that nobody foresaw is tried again this often: it may be a passing fault, it may be a bug. */
const MAX_ATTEMPTS_UNFORESEEN = 5;

/**
 * Runs an activity and turns what it throws into what Temporal needs to know: cancelled, try again, or final. Texts
 * end up in the workflow history, so only those of the catalogue pass.
 */
export async function withFailures<T>(log: () => Logger, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const context = Context.current();
  try {
    return await work(context.cancellationSignal);
  } catch (error) {
    throw toFailure(error, context, log());
  }
}

function toFailure(error: unknown, context: Context, log: Logger): Error {
  const { attempt, activityType } = context.info;
  if (context.cancellationSignal.aborted) {
    const details = context.cancellationDetails;
    // A deploy is not a user's Stop: the step goes on elsewhere.
    if (details?.workerShutdown === true && details.cancelRequested !== true) {
      return ApplicationFailure.retryable('The worker is shutting down.', 'worker_shutdown');
    }
    return error instanceof CancelledFailure ? error : new CancelledFailure('The step was cancelled.');
  }
  if (isDatabaseUnavailable(error))
    return ApplicationFailure.retryable('The database is not available.', 'unavailable');
  if (error instanceof AppError) {
    return ApplicationFailure.create({ message: error.message, type: error.code, nonRetryable: !error.retryable });
  }
  log.error({ err: error, activity: activityType, attempt }, 'an activity failed unexpectedly');
  const final = attempt >= MAX_ATTEMPTS_UNFORESEEN;
  return ApplicationFailure.create({
    message: 'An internal error stopped this step.',
    type: 'internal',
    nonRetryable: final,
  });
}
