import type { RequestHandler } from 'express';
import type { Logger } from '../../observability';

/** One line a request, without its query, headers and body: those can hold what is nobody else's business. */
export function requestLog(log: Logger): RequestHandler {
  return (request, response, next) => {
    const startedAt = performance.now();
    const path = request.path;
    response.once('close', () => {
      const durationMs = Math.round(performance.now() - startedAt);
      const fields = { method: request.method, path, status: response.statusCode, durationMs };
      if (response.writableFinished) log.info(fields, 'request');
      else log.info(fields, 'request: the connection closed first');
    });
    next();
  };
}
