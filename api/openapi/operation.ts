import type { z } from 'zod';
import type { ComponentName, JsonSchema } from './components';
import { reference, toJsonSchema } from './components';

export interface Operation {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** With parameters in braces: `/api/threads/{thread_id}`. */
  path: string;
  summary: string;
  description?: string;
  query?: z.ZodObject;
  /** Request headers by name, with what they are for. */
  headers?: Record<string, string>;
  body?: ComponentName | 'uploads';
  /** Whether the request may come without a body. */
  bodyOptional?: boolean;
  /** By status; the errors that any route may answer with are added. */
  responses: Record<number, ResponseDescription>;
}

export interface ResponseDescription {
  description: string;
  content?: Record<string, { schema: JsonSchema }>;
  headers?: Record<string, { description: string; schema: JsonSchema }>;
}

export function json(description: string, schema: ComponentName): ResponseDescription {
  return { description, content: { 'application/json': { schema: reference(schema) } } };
}

export function empty(description: string): ResponseDescription {
  return { description };
}

export function errors(descriptions: Record<number, string>): Record<number, ResponseDescription> {
  return Object.fromEntries(
    Object.entries(descriptions).map(([status, description]) => [status, json(description, 'Error')]),
  );
}

const PATH_PARAMETERS: Record<string, { description: string; schema: JsonSchema }> = {
  thread_id: {
    description: 'Id of a thread, chosen by the client or by the server',
    schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' },
  },
  run_id: { description: 'Id of a run', schema: { type: 'string' } },
  checkpoint_id: { description: 'Id of a checkpoint of the thread', schema: { type: 'string' } },
  filename: { description: 'Name of an uploaded file', schema: { type: 'string' } },
  path: {
    description: 'Path of a file below `mnt/user-data/`, its slashes unencoded',
    schema: { type: 'string' },
  },
};

/** One operation in the form of the OpenAPI document. */
export function describeOperation(operation: Operation, tag: string): JsonSchema {
  return {
    tags: [tag],
    operationId: operationId(operation),
    summary: operation.summary,
    ...(operation.description === undefined ? {} : { description: operation.description }),
    parameters: [...pathParameters(operation.path), ...queryParameters(operation), ...headerParameters(operation)],
    ...(operation.body === undefined ? {} : { requestBody: requestBody(operation.body, operation.bodyOptional) }),
    responses: allResponses(operation),
  };
}

function operationId({ method, path }: Operation): string {
  const words = path.replace(/^\/(api\/)?/, '').split(/[^A-Za-z0-9]+/);
  return [method, ...words.filter((word) => word !== '')].join('_');
}

function pathParameters(path: string): JsonSchema[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    ...(PATH_PARAMETERS[name] ?? { schema: { type: 'string' } }),
  }));
}

function queryParameters({ query }: Operation): JsonSchema[] {
  if (query === undefined) return [];
  const { properties = {}, required = [] } = toJsonSchema(query) as {
    properties?: Record<string, JsonSchema>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }));
}

function headerParameters({ headers = {} }: Operation): JsonSchema[] {
  return Object.entries(headers).map(([name, description]) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string' },
  }));
}

function requestBody(body: ComponentName | 'uploads', optional = false): JsonSchema {
  if (body !== 'uploads') {
    return { required: !optional, content: { 'application/json': { schema: reference(body) } } };
  }
  const schema = {
    type: 'object',
    required: ['files'],
    properties: { files: { type: 'array', items: { type: 'string', format: 'binary' } } },
  };
  return { required: true, content: { 'multipart/form-data': { schema } } };
}

function allResponses({ path, query, body, responses }: Operation): Record<string, ResponseDescription> {
  const checked = path.includes('{thread_id}') || query !== undefined || body !== undefined;
  return {
    ...responses,
    ...(checked && responses[422] === undefined ? { 422: json('The request does not fit', 'ValidationError') } : {}),
    default: json('Any other error', 'Error'),
  };
}
