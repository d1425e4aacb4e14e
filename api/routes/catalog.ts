import { Router } from 'express';
import { listPublicModels } from '../../config';
import { AppError } from '../../contracts';
import type { ApiDependencies } from '../dependencies';

import { handler, pathParameter } from '../http/handler';
import { readableThread } from '../http/owned';
import { parse } from '../http/validation';
import { addAssistantRoutes } from './catalog-assistants';
import { batchListQuerySchema, suggestionsRequestSchema, taskListQuerySchema } from './catalog-schemas';

/**
 * What the product offers, and the state of what it does not offer yet. The latter is reported as off or empty, in the
 * form that clients read, and has no routes that would change anything.
 */
export function createCatalogRouter(deps: ApiDependencies): Router {
  const router = Router();
  addModelRoutes(router, deps);
  addAssistantRoutes(router);
  addFeatureRoutes(router, deps);
  addThreadRoutes(router, deps);
  addEmptyCollections(router);
  addAgentRoutes(router);
  return router;
}

function addModelRoutes(router: Router, deps: ApiDependencies): void {
  router.get(
    '/models',
    handler((_request, response) => {
      const config = deps.config();
      response.json({ models: listPublicModels(config), token_usage: { enabled: config.token_usage.enabled } });
    }),
  );
  router.get(
    '/models/:name',
    handler((request, response) => {
      const name = pathParameter(request, 'name');
      const model = listPublicModels(deps.config()).find((candidate) => candidate.name === name);
      if (model === undefined) throw new AppError('not_found', `Model '${name}' not found`);
      response.json(model);
    }),
  );
}

/** Nothing here is switched by the configuration: what is off is not part of the product. */
const FEATURES = {
  agents_api: { enabled: false },
  browser_control: { enabled: false },
  mcp_tasks: { enabled: false },
  subagent_batches: { enabled: false, repository_available: false, worker_running: false, max_running: 0 },
  knowledge_base: { scope_selection_enabled: false },
  conversation_references: { enabled: false, max_references: 3 },
  scheduled_tasks: { available: false, running: false, tool_enabled: false, min_interval_seconds: 60 },
};

function addFeatureRoutes(router: Router, deps: ApiDependencies): void {
  router.get(
    '/features',
    handler((_request, response) => void response.json(FEATURES)),
  );
  // Off whatever the configuration says, so that interfaces do not ask after every answer for nothing.
  router.get(
    '/suggestions/config',
    handler((_request, response) => {
      response.json({ enabled: false, max_suggestions: deps.config().suggestions.max_suggestions });
    }),
  );
}

function addThreadRoutes(router: Router, deps: ApiDependencies): void {
  router.post(
    '/threads/:threadId/suggestions',
    handler(async (request, response) => {
      await readableThread(deps, request, response);
      parse(suggestionsRequestSchema, request.body, 'body');
      response.json({ suggestions: [] });
    }),
  );
  router.get(
    '/threads/:threadId/goal',
    handler(async (request, response) => {
      await readableThread(deps, request, response);
      response.json({ goal: null });
    }),
  );
  router.get(
    '/threads/:threadId/mcp-tasks',
    handler(async (request, response) => {
      await readableThread(deps, request, response);
      parse(taskListQuerySchema, request.query, 'query');
      response.json([]);
    }),
  );
  router.get(
    '/threads/:threadId/subagent-batches',
    handler(async (request, response) => {
      await readableThread(deps, request, response);
      parse(batchListQuerySchema, request.query, 'query');
      response.json([]);
    }),
  );
  router.get(
    '/threads/:threadId/scheduled-tasks',
    handler(async (request, response) => {
      await readableThread(deps, request, response);
      response.json([]);
    }),
  );
}

const EMPTY_COLLECTIONS = {
  '/skills': { skills: [] },
  '/skills/custom': { skills: [] },
  '/channels/providers': { enabled: false, providers: [] },
  '/channels/connections': { connections: [] },
  '/scheduled-tasks': [],
};

function addEmptyCollections(router: Router): void {
  for (const [path, value] of Object.entries(EMPTY_COLLECTIONS)) {
    router.get(
      path,
      handler((_request, response) => void response.json(value)),
    );
  }
  router.get('/skills/:name', notFound('Skill'));
  router.get('/skills/custom/:name', notFound('Custom skill'));
}

function notFound(kind: string) {
  return handler((request) => {
    throw new AppError('not_found', `${kind} '${pathParameter(request, 'name')}' not found`);
  });
}

function addAgentRoutes(router: Router): void {
  for (const path of ['/agents', '/agents/check', '/agents/:name', '/user-profile']) {
    router.get(
      path,
      handler(() => {
        throw new AppError('forbidden', 'The agents API is not enabled.');
      }),
    );
  }
}
