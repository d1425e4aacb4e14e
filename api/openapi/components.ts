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
  const definitions = Object.values((document['$defs'] ?? {}) as Record<string, JsonSchema>);
  // A schema with an id of its own comes as a reference to itself: here it is wanted at the place it is asked for.
  const wanted = document['$ref'] === undefined ? document : (definitions[0] ?? document);
  return Object.fromEntries(Object.entries(wanted).filter(([key]) => !ABOUT_THE_DOCUMENT.has(key)));
}

const ABOUT_THE_DOCUMENT = new Set(['$schema', '$defs', '$ref', 'id']);
