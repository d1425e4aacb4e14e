/**
 * The HTTP face: REST and server-sent events. It reads from Postgres, starts and signals workflows by name, and never
 * waits for Temporal to answer a read. No port is opened here.
 */
import express from 'express';
import type { Express, Router } from 'express';
import type { ApiDependencies } from './dependencies';
import { jsonBody } from './http/body';
import { errorHandler } from './middleware/errors';
import { hostGuard } from './middleware/host-guard';
import type { Identify } from './middleware/identity';
import { identity } from './middleware/identity';
import { langgraphPrefix } from './middleware/langgraph-prefix';
import { originGuard } from './middleware/origin-guard';
import { requestLog } from './middleware/request-log';
import { exceptOptions, unmatched } from './middleware/unmatched';
import { createDocumentationRouter } from './openapi';
import { createArtifactsRouter } from './routes/artifacts';
import { createBranchesRouter } from './routes/branches';
import { createCatalogRouter } from './routes/catalog';
import { createHealthRouter } from './routes/health';
import { createManagedModelsRouter } from './routes/managed-models';
import { createMcpConfigRouter } from './routes/mcp-config';
import { createMessagesRouter } from './routes/messages';
import { createRegenerateRouter } from './routes/regenerate';
import { createRunCreationRouter } from './routes/run-creation';
import { createRunsRouter } from './routes/runs';
import { createThreadStateRouter } from './routes/thread-state';
import { createThreadsRouter } from './routes/threads';
import { createTokenUsageRouter } from './routes/token-usage';
import { createUploadsRouter } from './routes/uploads';

export interface AppOptions {
  /** The one place that decides who asks. */
  identify: Identify;
}

const API = '/api';

export function createApp(deps: ApiDependencies, { identify }: AppOptions): Express {
  const open = [createHealthRouter(deps), createDocumentationRouter(deps)];
  const routers = apiRouters(deps);
  const answerUnmatched = unmatched([
    ...open.map((router) => ({ prefix: '', router })),
    ...routers.map((router) => ({ prefix: API, router })),
  ]);

  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use(requestLog(deps.log));
  app.use(hostGuard(deps.settings.corsOrigins));
  app.use(langgraphPrefix());
  app.use(originGuard(deps.settings.corsOrigins));
  app.use(exceptOptions(answerUnmatched));
  for (const router of open) app.use(router);
  app.use(API, identity(identify), ...jsonBody());
  for (const router of routers) app.use(API, router);
  app.use(answerUnmatched);
  app.use(errorHandler(deps.log));
  return app;
}

/** Literal paths come before those with a parameter in the same place. */
function apiRouters(deps: ApiDependencies): Router[] {
  return [
    createThreadsRouter(deps),
    createThreadStateRouter(deps),
    createRegenerateRouter(deps),
    createRunCreationRouter(deps),
    createRunsRouter(deps),
    createMessagesRouter(deps),
    createTokenUsageRouter(deps),
    createBranchesRouter(deps),
    createUploadsRouter(deps),
    createArtifactsRouter(deps),
    createCatalogRouter(deps),
    createManagedModelsRouter(deps),
    createMcpConfigRouter(deps),
  ];
}
