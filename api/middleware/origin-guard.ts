import type { Request, RequestHandler } from 'express';
import { AppError } from '../../contracts';
import { isLoopbackName } from './host-guard';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);
const METHODS = 'GET, POST, PUT, PATCH, DELETE';
const PREFLIGHT_SECONDS = '600';

/**
 * Keeps foreign web pages out: a browser names the page that sends a request, and one that is neither our own, on this
 * machine nor listed may change nothing and read nothing.
 */
export function originGuard(allowed: readonly string[]): RequestHandler {
  const listed = new Set(allowed);
  return (request, response, next) => {
    const origin = request.headers.origin;
    if (origin === undefined) return next();
    response.vary('Origin');
    if (listed.has(origin)) {
      response.set('Access-Control-Allow-Origin', origin);
      response.set('Access-Control-Allow-Credentials', 'true');
      response.set('Access-Control-Expose-Headers', 'Content-Location, Location');
      if (request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined) {
        response.set('Access-Control-Allow-Methods', METHODS);
        response.set('Access-Control-Allow-Headers', request.headers['access-control-request-headers'] ?? '');
        response.set('Access-Control-Max-Age', PREFLIGHT_SECONDS);
        response.status(204).end();
        return;
      }
    } else if (!SAFE_METHODS.has(request.method) && !isOwnPage(request, origin)) {
      throw new AppError('forbidden', 'Requests from other sites are not allowed');
    }
    next();
  };
}

function isOwnPage(request: Request, origin: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { host, hostname } = new URL(origin);
  return host === request.headers.host || isLoopbackName(hostname);
}
