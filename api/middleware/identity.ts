import type { Request, RequestHandler } from 'express';
import { AppError, LOCAL_OWNER } from '../../contracts';
import type { Identity } from '../dependencies';

/** Who sent a request; null where nobody known did. */
export type Identify = (request: Request) => Identity | null | Promise<Identity | null>;

/** Everybody who reaches the server is its one local user: there are no accounts. */
export const localUser: Identify = () => ({ owner: LOCAL_OWNER, email: 'default@test.local', role: 'admin' });

export function identity(identify: Identify): RequestHandler {
  return (request, response, next) => {
    Promise.resolve()
      .then(() => identify(request))
      .then((found) => {
        if (found === null) throw new AppError('not_authenticated', 'Authentication required');
        response.locals['identity'] = found;
        next();
      })
      .catch(next);
  };
}
