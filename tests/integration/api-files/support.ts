/** The file routes over real HTTP and a real home directory; who asks is named by a header. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import type { ApiDependencies } from '../../../api/dependencies';
import { ensureThreadDirectories, threadLayout } from '../../../api/files/thread-directories';
import { jsonBody } from '../../../api/http/body';
import { errorHandler } from '../../../api/middleware/errors';
import { identity } from '../../../api/middleware/identity';
import { createArtifactsRouter } from '../../../api/routes/artifacts';
import { createCatalogRouter } from '../../../api/routes/catalog';
import { createUploadsRouter } from '../../../api/routes/uploads';
import { configSchema } from '../../../contracts/schemas/config';
import type { Config } from '../../../contracts/schemas/config';
import type { ThreadDirectories } from '../../../core/thread-paths';
import type { ThreadStore } from '../../../db';
import { createSilentLogger } from '../../../observability';

/** What the file routes use of the thread store, in memory. */
export function createFakeThreads() {
  const owners = new Map<string, string>();
  const held = new Set<string>();
  const threads: Pick<ThreadStore, 'ownerOf' | 'hold' | 'release'> = {
    ownerOf: async (threadId) => owners.get(threadId) ?? null,
    hold: async (owner, threadId) => {
      if (owners.get(threadId) !== owner || held.has(threadId)) return false;
      held.add(threadId);
      return true;
    },
    release: async (threadId) => void held.delete(threadId),
  };
  return { threads, owners, held };
}

export interface FilesApi {
  url: string;
  port: number;
  home: string;
  owners: Map<string, string>;
  /** Threads that a run or an operation has. */
  held: Set<string>;
  /** Host directories of a thread, made if need be. */
  directories(threadId: string, owner?: string): Promise<ThreadDirectories>;
  upload(threadId: string, form: FormData, owner?: string): Promise<Answer>;
  call(method: string, path: string, options?: CallOptions): Promise<Response>;
  close(): Promise<void>;
}

export interface CallOptions {
  owner?: string;
  headers?: Record<string, string>;
  json?: unknown;
}

export interface Answer {
  status: number;
  // Answers of several routes are looked at: what is in them is for the tests to say.
  body: Record<string, unknown> & { files?: Array<Record<string, unknown>> };
}

interface FilesApiOptions {
  config?: Record<string, unknown>;
  threads?: Pick<ThreadStore, 'ownerOf' | 'hold' | 'release'>;
}

export async function startFilesApi(options: FilesApiOptions = {}): Promise<FilesApi> {
  const home = mkdtempSync(join(tmpdir(), 'deer-flow-files-'));
  const fake = createFakeThreads();
  const config: Config = configSchema.parse(options.config ?? {});
  const deps = {
    config: () => config,
    settings: { home, docsEnabled: true, corsOrigins: [] },
    stores: { threads: options.threads ?? fake.threads },
    log: createSilentLogger(),
  } as unknown as ApiDependencies;

  const app = express();
  app.use(
    identity((request) => ({ owner: request.get('x-test-owner') ?? 'alice', email: 'a@example.org', role: 'user' })),
  );
  app.use(jsonBody());
  app.use('/api', createUploadsRouter(deps), createArtifactsRouter(deps), createCatalogRouter(deps));
  app.use(errorHandler(deps.log));
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;

  const call = (method: string, path: string, { owner = 'alice', headers = {}, json }: CallOptions = {}) =>
    fetch(`${url}${path}`, {
      method,
      headers: {
        'x-test-owner': owner,
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });

  return {
    url,
    port,
    home,
    owners: fake.owners,
    held: fake.held,
    call,
    async directories(threadId, owner = 'alice') {
      const directories = threadLayout(home).directories(owner, threadId);
      await ensureThreadDirectories(directories);
      return directories;
    },
    async upload(threadId, form, owner = 'alice') {
      const response = await fetch(`${url}/api/threads/${threadId}/uploads`, {
        method: 'POST',
        headers: { 'x-test-owner': owner },
        body: form,
      });
      return { status: response.status, body: (await response.json()) as Answer['body'] };
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(home, { recursive: true, force: true });
    },
  };
}

export function formOf(...files: Array<[name: string, content: string | Uint8Array<ArrayBuffer>]>): FormData {
  const form = new FormData();
  for (const [name, content] of files) form.append('files', new Blob([content]), name);
  return form;
}

/** Every name in a directory, hidden ones too; none where it does not exist. */
export function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory).sort();
  } catch {
    return [];
  }
}

export interface RawAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** A request whose path is sent exactly as it is written, which `fetch` would tidy up. */
export function rawRequest(
  api: FilesApi,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: Buffer,
) {
  return new Promise<RawAnswer>((resolve, reject) => {
    const request = httpRequest(
      { port: api.port, host: '127.0.0.1', method, path, headers: { 'x-test-owner': 'alice', ...headers } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks).toString('utf8'),
          }),
        );
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}
