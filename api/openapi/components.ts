import { z } from 'zod';
import { schemas as requestSchemas } from '../../contracts/schemas';
import { artifactEditRequestSchema } from '../routes/artifacts';
import { assistantSearchRequestSchema, suggestionsRequestSchema } from '../routes/catalog-schemas';
import { responseSchemas } from './response-schemas';

export type JsonSchema = Record<string, unknown>;

const named = {
  ...requestSchemas,
  ArtifactEditRequest: artifactEditRequestSchema,
  AssistantSearchRequest: assistantSearchRequestSchema,
  SuggestionsRequest: suggestionsRequestSchema,
  ...responseSchemas,
} as const;

export type ComponentName = keyof typeof named;

export function reference(name: ComponentName): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

/** The schemas that requests are checked with, as JSON Schema of what a client may send. */
export function componentSchemas(): Record<string, JsonSchema> {
  return Object.fromEntries(Object.entries(named).map(([name, schema]) => [name, toJsonSchema(schema)]));
}

export function toJsonSchema(schema: z.ZodType): JsonSchema {
  const document: JsonSchema = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' });
  const definitions = (document['$defs'] ?? {}) as Record<string, JsonSchema>;
  // A schema with an id of its own comes as a reference to itself: here it is wanted at the place it is asked for.
  const [only] = Object.values(definitions);
  const { $schema: _dialect, $defs: _definitions, $ref: own, id: _id, ...rest } = document;
  return own === undefined || only === undefined ? rest : withoutId(only);
}

function withoutId({ id: _id, ...schema }: JsonSchema): JsonSchema {
  return schema;
}
