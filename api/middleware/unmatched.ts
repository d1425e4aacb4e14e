import type { RequestHandler, Router } from 'express';

interface KnownRoute {
  form: RegExp;
  methods: string[];
}

/**
 * Answers what no route took: 405 with the methods that the path does know, else 404. Also takes OPTIONS, which a router
 * would answer by itself.
 */
export function unmatched(mounts: ReadonlyArray<{ prefix: string; router: Router }>): RequestHandler {
  const known = mounts.flatMap(({ prefix, router }) => knownRoutes(prefix, router));
  return (request, response) => {
    const methods = known.filter(({ form }) => form.test(request.path)).flatMap((route) => route.methods);
    if (methods.length === 0) {
      response.status(404).json({ detail: 'Not Found' });
      return;
    }
    response.set('Allow', [...new Set(methods)].sort().join(', '));
    response.status(405).json({ detail: 'Method Not Allowed' });
  };
}

function knownRoutes(prefix: string, router: Router): KnownRoute[] {
  return router.stack.flatMap(({ route }) =>
    route === undefined
      ? []
      : [
          {
            form: routeForm(prefix + route.path),
            methods: route.stack.map((layer) => layer.method.toUpperCase()),
          },
        ],
  );
}

/** The forms that our routes use: `:name` is one segment, `*name` the rest of the path. */
function routeForm(path: string): RegExp {
  const source = path
    .split('/')
    .map((part) => {
      if (part.startsWith(':')) return '[^/]+';
      if (part.startsWith('*')) return '.+';
      return part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    })
    .join('/');
  return new RegExp(`^${source}/?$`, 'i');
}

/** OPTIONS goes to the answer above before a router sees it. */
export function exceptOptions(answer: RequestHandler): RequestHandler {
  return (request, response, next) => (request.method === 'OPTIONS' ? answer(request, response, next) : next());
}
