import type { RequestHandler, Response } from 'express';

const PREFIX = /^\/api\/langgraph(?=\/|\?|$)/;

/** `/api/langgraph/X` is `/api/X`: the official client's base address, which a front proxy rewrites elsewhere. */
export function langgraphPrefix(): RequestHandler {
  return (request, response, next) => {
    if (PREFIX.test(request.url)) {
      request.url = request.url.replace(PREFIX, '/api');
      response.locals['langgraphPrefix'] = true;
    }
    next();
  };
}

/** Whether the request came in under the official client's prefix. */
export function usedLanggraphPrefix(response: Response): boolean {
  return response.locals['langgraphPrefix'] === true;
}
