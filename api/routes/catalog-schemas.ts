import { z } from 'zod';
import { integerOr, optionalObject } from '../../contracts/schemas/fields';

/** Also sent without a body, which means without conditions. */
export const assistantSearchRequestSchema = z
  .object({
    graph_id: z.string().nullish(),
    name: z.string().nullish(),
    metadata: optionalObject(),
    limit: integerOr(10, { min: 1, max: 1000 }),
    offset: integerOr(0, { min: 0 }),
  })
  .meta({ id: 'AssistantSearchRequest' });

export const suggestionsRequestSchema = z
  .object({
    messages: z.array(z.object({ role: z.string(), content: z.string() })),
    n: integerOr(3, { min: 1, max: 5 }),
    model_name: z.string().nullish(),
  })
  .meta({ id: 'SuggestionsRequest' });

export const taskListQuerySchema = z.object({ limit: integerOr(50, { min: 1, max: 100 }) });
export const batchListQuerySchema = z.object({ limit: integerOr(20, { min: 1, max: 100 }) });
