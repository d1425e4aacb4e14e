import { dirname } from 'node:path';
import { Router } from 'express';
import type { ApiDependencies } from '../dependencies';
import { createOpenApiDocument } from './document';
import type { OpenApiDocument } from './document';
import { referencePage } from './reference-page';

/** What the page of Swagger UI loads; nothing else of the package is served. */
const ASSETS = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'];

/**
 * All from this server, and in no frame of another page, which could lead clicks onto it. Swagger UI sets styles in its
 * elements and has its icons in addresses.
 */
const CONTENT_POLICY =
  "default-src 'none'; connect-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; " +
  "img-src 'self' data:; frame-ancestors 'none'";

const PAGE =
  '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>DeerFlow on Temporal: API</title>' +
  '<link rel="icon" href="docs/favicon-32x32.png"><link rel="stylesheet" href="docs/swagger-ui.css"></head>' +
  '<body><div id="swagger-ui"></div><script src="docs/swagger-ui-bundle.js"></script>' +
  '<script src="docs/start.js"></script></body></html>';

const START = "window.ui = SwaggerUIBundle({ url: 'openapi.json', dom_id: '#swagger-ui', deepLinking: true });\n";

/**
 * `/openapi.json`, `/docs` to try routes out, `/redoc` to read about them. Mounted at the root. Where documentation is
 * switched off there are no such routes.
 */
export function createDocumentationRouter({
  settings,
}: {
  settings: Pick<ApiDependencies['settings'], 'docsEnabled'>;
}): Router {
  const router = Router();
  if (!settings.docsEnabled) return router;

  let made: OpenApiDocument | null = null;
  const document = (): OpenApiDocument => (made ??= createOpenApiDocument());

  router.get('/openapi.json', (_request, response) => void response.json(document()));
  router.get('/docs', (request, response) => {
    // The page's addresses are relative, so that it also works below a path of a proxy.
    if (request.path.endsWith('/')) return response.redirect('../docs');
    response.set('Content-Security-Policy', CONTENT_POLICY).type('html').send(PAGE);
  });
  router.get('/docs/start.js', (_request, response) => void response.type('js').send(START));
  const root = dirname(require.resolve('swagger-ui-dist/package.json'));
  for (const name of ASSETS) {
    router.get(`/docs/${name}`, (_request, response) => response.sendFile(name, { root, maxAge: 3_600_000 }));
  }
  router.get('/redoc', (_request, response) => {
    response.set('Content-Security-Policy', CONTENT_POLICY).type('html').send(referencePage(document()));
  });
  return router;
}
