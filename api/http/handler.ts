import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Identity } from '../dependencies';

/** Who asks, as the identity middleware found out. */
export function identityOf(response: Response): Identity {
  return response.locals['identity'] as Identity;
}

/** Wraps an async handler: what it rejects with goes to the error middleware. */
export function handler(work: (request: Request, response: Response) => Promise<void> | void): RequestHandler {
  return (request: Request, response: Response, next: NextFunction): void => {
    Promise.resolve()
      .then(() => work(request, response))
      .catch(next);
  };
}

/** A path parameter as text; Express types it as possibly repeated. */
export function pathParameter(request: Request, name: string): string {
  const value = request.params[name];
  return Array.isArray(value) ? value.join('/') : (value ?? '');
}
