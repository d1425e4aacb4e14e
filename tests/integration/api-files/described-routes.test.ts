import express from 'express';
import type { Router } from 'express';
import { createApp } from '../../../api/app';
import type { ApiDependencies } from '../../../api/dependencies';
import { createOpenApiDocument } from '../../../api/openapi';
import { configSchema } from '../../../contracts/schemas/config';
import { createSilentLogger } from '../../../observability';

/** Every route of the whole app, found where routers are mounted. */
function mountedRoutes(): string[] {
  const mounts: Array<{ prefix: string; router: Router }> = [];
  const routers = express.Router.prototype as { use(...mounted: unknown[]): unknown };
  const mounting = jest.spyOn(routers, 'use').mockImplementation(function (this: unknown, ...mounted) {
    const prefix = typeof mounted[0] === 'string' && mounted[0] !== '/' ? mounted[0] : '';
    for (const one of mounted) if (isRouter(one)) mounts.push({ prefix, router: one });
    return this;
  });
  try {
    createApp(dependencies, { identify: () => null });
  } finally {
    mounting.mockRestore();
  }
  return mounts.flatMap(({ prefix, router }) =>
    router.stack.flatMap(({ route }) =>
      (route?.stack ?? []).map((layer) => `${layer.method.toUpperCase()} ${prefix}${route?.path}`),
    ),
  );
}

function isRouter(value: unknown): value is Router {
  return typeof value === 'function' && 'stack' in value;
}

/** Nothing of it is used while the app is only put together. */
const dependencies = {
  config: () => configSchema.parse({}),
  settings: { home: '/nowhere', docsEnabled: true, corsOrigins: [], mcpCommands: [], heartbeatMs: 10_000 },
  stores: { threads: {}, events: {}, log: {}, runs: {}, journal: {}, secrets: {} },
  shutdown: new AbortController().signal,
  log: createSilentLogger(),
} as unknown as ApiDependencies;

/** The pages of the description are not part of what it describes. */
const DOCUMENTATION = /^GET \/(docs|redoc|openapi\.json)/;

const withoutNames = (route: string) => route.replace(/\{\w+\}|[:*]\w+/g, '{}');

test('every route of the server is described, and everything that is described is there', () => {
  const mounted = mountedRoutes().filter((route) => !DOCUMENTATION.test(route));
  const described = Object.entries(createOpenApiDocument().paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(mounted.length).toBeGreaterThan(40);
  expect(described.map(withoutNames).sort()).toEqual([...new Set(mounted.map(withoutNames))].sort());
});

test('the parameters in a path have the same meaning in the server and in the description', () => {
  const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const mounted = mountedRoutes()
    .filter((route) => !DOCUMENTATION.test(route))
    .map((route) => route.replace(/[:*](\w+)/g, (_whole, name: string) => `{${snakeCase(name)}}`).replace(/^\w+ /, ''));
  expect(new Set(mounted)).toEqual(new Set(Object.keys(createOpenApiDocument().paths)));
});
