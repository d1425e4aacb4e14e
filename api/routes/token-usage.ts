import { Router } from 'express';
import { z } from 'zod';
import { flagSchema } from '../../contracts/schemas/fields';
import type { ApiDependencies } from '../dependencies';
import { handler } from '../http/handler';
import { readableThread } from '../http/owned';
import { parse } from '../http/validation';

const querySchema = z.object({ include_active: flagSchema.optional().default(false) });

/** Tokens that a thread's runs have used. How full the model's context is, nobody counts yet. */
export function createTokenUsageRouter(deps: ApiDependencies): Router {
  const router = Router();
  router.get(
    '/threads/:threadId/token-usage',
    handler(async (request, response) => {
      const query = parse(querySchema, request.query, 'query');
      const { threadId } = await readableThread(deps, request, response);
      const totals = await deps.stores.runs.tokenTotals(threadId, query.include_active);
      response.json({
        thread_id: threadId,
        total_tokens: totals.totalTokens,
        total_input_tokens: totals.totalInputTokens,
        total_output_tokens: totals.totalOutputTokens,
        total_runs: totals.totalRuns,
        by_model: totals.byModel,
        by_caller: {
          lead_agent: totals.leadAgent,
          subagent: totals.subagent,
          middleware: totals.middleware,
        },
        context_usage: null,
      });
    }),
  );
  return router;
}
