import type { ErrorRequestHandler, Response } from 'express';
import type { AppError } from '../../contracts';
import { isAppError } from '../../contracts';
import { isDatabaseUnavailable } from '../../db';
import type { Logger } from '../../observability';
import { RequestValidationError } from '../http/validation';

interface Reply {
  status: number;
  detail: unknown;
}

/** The only place that turns an error into an answer. Causes are for the log; clients read what is meant for them. */
export function errorHandler(log: Logger): ErrorRequestHandler {
  // Express knows a handler of errors by its four parameters.
  return (error: unknown, request, response: Response, _next) => {
    const { status, detail } = toReply(error);
    if (status >= 500) log.error({ err: error, method: request.method, path: request.path, status }, 'request failed');
    if (response.headersSent) {
      // Half an answer is out: a broken connection is the only honest end.
      response.destroy();
      return;
    }
    response.status(status).json({ detail });
  };
}

function toReply(error: unknown): Reply {
  if (error instanceof RequestValidationError) return { status: 422, detail: error.faults };
  if (isAppError(error)) return fromAppError(error);
  if (isDatabaseUnavailable(error)) return { status: 503, detail: 'The database is not available' };
  const status = clientFaultStatus(error);
  if (status === 413) return { status, detail: 'Request body too large' };
  if (status !== null) return { status, detail: 'Bad Request' };
  return { status: 500, detail: 'Internal Server Error' };
}

function fromAppError(error: AppError): Reply {
  if (error.code === 'not_authenticated') {
    return { status: error.status, detail: { code: error.code, message: error.message } };
  }
  if (error.code === 'internal') return { status: 500, detail: 'Internal Server Error' };
  return { status: error.status, detail: error.message };
}

/** Faults that the HTTP parts of Express found in a request. */
function clientFaultStatus(error: unknown): number | null {
  if (typeof error !== 'object' || error === null || !('status' in error)) return null;
  if (typeof error.status !== 'number') return null;
  return error.status >= 400 && error.status < 500 ? error.status : null;
}
