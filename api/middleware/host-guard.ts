import type { RequestHandler } from 'express';
import { AppError } from '../../contracts';

const LOOPBACK_NAME = /^(localhost|127(\.\d{1,3}){3}|\[::1\]|.+\.localhost)\.?$/i;

/** Whether a host name, in the form that a parsed URL has it, can only mean this machine. */
export function isLoopbackName(name: string): boolean {
  return LOOPBACK_NAME.test(name);
}

/**
 * Refuses requests under a name that is not ours. A page of the web can have its own name resolved to this machine
 * ("DNS rebinding"); for the browser it is then of our origin, and may read and change everything. A proxy in front
 * that hands on the name which the browser knows is listed with its origin.
 */
export function hostGuard(allowedOrigins: readonly string[]): RequestHandler {
  const listed = new Set(allowedOrigins.flatMap((origin) => (URL.canParse(origin) ? [new URL(origin).hostname] : [])));
  return (request, _response, next) => {
    const { host } = request.headers;
    // Browsers always name the host; old programs and probes need not.
    if (host === undefined || host === '') return next();
    const name = URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : '';
    if (isLoopbackName(name) || listed.has(name)) return next();
    throw new AppError('forbidden', 'This host name is not served here; list its origin in GATEWAY_CORS_ORIGINS');
  };
}
