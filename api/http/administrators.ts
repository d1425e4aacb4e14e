import type { RequestHandler } from 'express';
import { AppError } from '../../contracts';
import { identityOf } from './handler';

/**
 * Lets nobody else through. It stands before the body is looked at, so that nobody else learns what would fit.
 * @param refusal What others read.
 */
export function forAdministrators(refusal: string): RequestHandler {
  return (_request, response, next) => {
    if (identityOf(response).role === 'admin') return next();
    next(new AppError('forbidden', refusal));
  };
}
