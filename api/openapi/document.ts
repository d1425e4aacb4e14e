import { componentSchemas } from './components';
import type { JsonSchema } from './components';
import type { Operation } from './operation';
import { describeOperation } from './operation';
import { ASSISTANT_OPERATIONS, FEATURE_OPERATIONS, MODEL_OPERATIONS } from './operations/catalog';
import { FILE_OPERATIONS } from './operations/files';
import { MCP_OPERATIONS } from './operations/mcp';
import { RUN_OPERATIONS } from './operations/runs';
import { SYSTEM_OPERATIONS } from './operations/system';
import { THREAD_OPERATIONS } from './operations/threads';

export interface OpenApiDocument {
  openapi: '3.1.0';
  info: { title: string; version: string; description: string };
  tags: Array<{ name: string }>;
  paths: Record<string, Record<string, JsonSchema>>;
  components: { schemas: Record<string, JsonSchema> };
}

const TAGS: Record<string, Operation[]> = {
  threads: THREAD_OPERATIONS,
  runs: RUN_OPERATIONS,
  files: FILE_OPERATIONS,
  models: MODEL_OPERATIONS,
  assistants: ASSISTANT_OPERATIONS,
  features: FEATURE_OPERATIONS,
  mcp: MCP_OPERATIONS,
  system: SYSTEM_OPERATIONS,
};

/** Every route of the server, made from the schemas that its requests are checked with. */
export function createOpenApiDocument(): OpenApiDocument {
  const paths: OpenApiDocument['paths'] = {};
  for (const [tag, operations] of Object.entries(TAGS)) {
    for (const operation of operations) {
      (paths[operation.path] ??= {})[operation.method] = describeOperation(operation, tag);
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'DeerFlow on Temporal',
      version: '1.0.0',
      description:
        'Durable agent runs behind the REST and SSE API of DeerFlow. Every path below `/api` is also served below `/api/langgraph`, for LangGraph clients.',
    },
    tags: Object.keys(TAGS).map((name) => ({ name })),
    paths,
    components: { schemas: componentSchemas() },
  };
}
