import type { Router } from 'express';
import { AppError } from '../../contracts';
import { handler, pathParameter } from '../http/handler';
import { parse } from '../http/validation';
import { assistantSearchRequestSchema } from './catalog-schemas';

const ASSISTANT_ID = 'lead_agent';

/** The one assistant there is, in the form of LangGraph's clients. */
export function addAssistantRoutes(router: Router): void {
  const startedAt = new Date().toISOString();
  const assistant = {
    assistant_id: ASSISTANT_ID,
    graph_id: ASSISTANT_ID,
    name: ASSISTANT_ID,
    config: {},
    metadata: { created_by: 'system' },
    description: 'DeerFlow lead agent',
    created_at: startedAt,
    updated_at: startedAt,
    version: 1,
  };

  router.post(
    '/assistants/search',
    handler((request, response) => {
      const search = parse(assistantSearchRequestSchema, request.body ?? {}, 'body');
      const metadata: Record<string, unknown> = assistant.metadata;
      const fits =
        (search.graph_id ?? ASSISTANT_ID) === ASSISTANT_ID &&
        assistant.name.includes(search.name?.toLowerCase() ?? '') &&
        Object.entries(search.metadata).every(([key, value]) => metadata[key] === value);
      response.json((fits ? [assistant] : []).slice(search.offset, search.offset + search.limit));
    }),
  );

  const answers = {
    '': assistant,
    '/graph': { graph_id: ASSISTANT_ID, nodes: [], edges: [] },
    '/schemas': { graph_id: ASSISTANT_ID, input_schema: {}, output_schema: {}, state_schema: {}, config_schema: {} },
  };
  for (const [part, answer] of Object.entries(answers)) {
    router.get(
      `/assistants/:assistantId${part}`,
      handler((request, response) => {
        const id = pathParameter(request, 'assistantId');
        if (id !== ASSISTANT_ID) throw new AppError('not_found', `Assistant ${id} not found`);
        response.json(answer);
      }),
    );
  }
}
