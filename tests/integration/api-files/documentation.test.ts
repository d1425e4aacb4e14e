import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { createDocumentationRouter } from '../../../api/openapi';
import type { OpenApiDocument } from '../../../api/openapi';

let server: Server | null = null;

async function start(docsEnabled: boolean): Promise<string> {
  const app = express();
  app.use(createDocumentationRouter({ settings: { docsEnabled } }));
  server = createServer(app);
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((resolve) => (server === null ? resolve(null) : server.close(resolve)));
  server = null;
});

test('a run request that is described holds exactly the options that the server takes', async () => {
  const url = await start(true);
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as OpenApiDocument;
  expect(document.openapi).toBe('3.1.0');
  const schema = document.components.schemas['RunCreateRequest'] as {
    additionalProperties: boolean;
    properties: Record<string, unknown>;
  };
  expect(schema.additionalProperties).toBe(false);
  const modes = ['values', 'messages-tuple', 'updates', 'debug', 'tasks', 'checkpoints', 'custom'];
  expect(JSON.stringify(schema.properties['stream_mode'])).toContain(JSON.stringify(modes));
  expect(schema.properties['multitask_strategy']).toMatchObject({
    enum: ['reject', 'rollback', 'interrupt', 'enqueue'],
  });
  expect(schema.properties['if_not_exists']).toMatchObject({ enum: ['create', 'reject'] });
  expect(schema.properties['stream_resumable']).toEqual({ type: ['boolean', 'null'] });
  expect(JSON.stringify(schema.properties['after_seconds'])).toContain('"maximum":86400');
  expect(JSON.stringify(schema.properties['webhook'])).toContain('"format":"uri"');
  expect([schema.properties['feedback_keys'], schema.properties['on_completion']]).toEqual([
    { type: 'null' },
    { type: 'null' },
  ]);
});

test('every reference of the document leads to a schema in it, and every operation has a name of its own', async () => {
  const url = await start(true);
  const text = await (await fetch(`${url}/openapi.json`)).text();
  const document = JSON.parse(text) as OpenApiDocument;
  const references = [...text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name ?? '');
  expect(references.length).toBeGreaterThan(50);
  expect(references.filter((name) => document.components.schemas[name] === undefined)).toEqual([]);
  expect(text.match(/"\$ref":"[^"]*"/g)?.every((reference) => reference.includes('#/components/schemas/'))).toBe(true);
  expect(text).not.toContain('"$defs"');
  const names = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).map((one) => one['operationId']),
  );
  expect(new Set(names).size).toBe(names.length);
});

test('the page to try routes out loads everything from this server', async () => {
  const url = await start(true);
  const page = await fetch(`${url}/docs`);
  const html = await page.text();
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  const loaded = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address ?? '');
  expect(loaded).toHaveLength(4);
  for (const address of loaded) {
    const target = new URL(address, `${url}/docs`);
    expect(target.origin).toBe(url);
    expect([address, (await fetch(target)).status]).toEqual([address, 200]);
  }
  expect(await (await fetch(`${url}/docs/start.js`)).text()).toContain("url: 'openapi.json'");
  const slash = await fetch(`${url}/docs/`);
  expect([slash.status, new URL(slash.url).pathname]).toEqual([200, '/docs']);
});

test('the page to read names every route and runs no script', async () => {
  const url = await start(true);
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as OpenApiDocument;
  const html = await (await fetch(`${url}/redoc`)).text();
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const method of Object.keys(methods)) expect(html).toContain(`<code>${method.toUpperCase()} ${path}</code>`);
  }
  expect(html).not.toContain('<script');
});

test('the pages load nothing from elsewhere and stand in no frame of another page', async () => {
  const url = await start(true);
  for (const page of ['/docs', '/redoc']) {
    const policy = (await fetch(url + page)).headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
  }
});

test('where documentation is switched off, none of it is there', async () => {
  const url = await start(false);
  const paths = ['/docs', '/redoc', '/openapi.json', '/docs/swagger-ui.css', '/docs/start.js'];
  const statuses = await Promise.all(paths.map(async (path) => (await fetch(`${url}${path}`)).status));
  expect(statuses).toEqual([404, 404, 404, 404, 404]);
});
