import { batchListQuerySchema, taskListQuerySchema } from '../../routes/catalog-schemas';
import type { ComponentName } from '../components';
import type { Operation } from '../operation';
import { errors, json } from '../operation';

const FOR_ADMINISTRATORS = { 403: 'For administrators' };
const UNREADABLE = { 503: 'The catalogue cannot be read' };

export const MODEL_OPERATIONS: Operation[] = [
  get('/api/models', 'Models that a run may name', 'ModelList'),
  get('/api/models/{name}', 'One model', 'Model', { 404: 'No such model' }),
  get('/api/managed-models', 'Models of the file and those that administrators registered', 'ManagedModelList', {
    ...FOR_ADMINISTRATORS,
    ...UNREADABLE,
  }),
  get('/api/managed-models/providers', 'Providers that a model can be registered with', 'ManagedProviderList', {
    ...FOR_ADMINISTRATORS,
  }),
  {
    method: 'put',
    path: '/api/managed-models',
    summary: 'Registers a model, or changes one',
    body: 'ManagedModelRequest',
    responses: {
      200: json('What is stored, without its key', 'ManagedModel'),
      ...errors({
        ...FOR_ADMINISTRATORS,
        404: 'The model is gone',
        409: 'The model has changed, or its name is taken',
        ...UNREADABLE,
      }),
    },
  },
  {
    method: 'post',
    path: '/api/managed-models/test',
    summary: 'Asks a model for one tool call, and saves nothing',
    body: 'ManagedModelRequest',
    responses: {
      200: json('How it went', 'ManagedModelTest'),
      ...errors({ ...FOR_ADMINISTRATORS, 409: 'The model has changed', ...UNREADABLE }),
    },
  },
];

export const ASSISTANT_OPERATIONS: Operation[] = [
  {
    method: 'post',
    path: '/api/assistants/search',
    summary: 'Assistants that fit',
    body: 'AssistantSearchRequest',
    bodyOptional: true,
    responses: { 200: json('The assistants', 'AssistantList') },
  },
  get('/api/assistants/{assistant_id}', 'One assistant', 'Assistant', { 404: 'No such assistant' }),
  get('/api/assistants/{assistant_id}/graph', 'Its graph, which is empty', 'AnyObject', { 404: 'No such assistant' }),
  get('/api/assistants/{assistant_id}/schemas', 'Its schemas, which are empty', 'AnyObject', {
    404: 'No such assistant',
  }),
];

const NOT_YOURS = { 404: 'The thread belongs to somebody else' };

export const FEATURE_OPERATIONS: Operation[] = [
  get('/api/features', 'Which features are on', 'AnyObject'),
  get('/api/suggestions/config', 'Whether follow-up questions are suggested', 'AnyObject'),
  {
    method: 'post',
    path: '/api/threads/{thread_id}/suggestions',
    summary: 'Follow-up questions; none while the feature is off',
    body: 'SuggestionsRequest',
    responses: { 200: json('The questions', 'AnyObject'), ...errors(NOT_YOURS) },
  },
  get('/api/threads/{thread_id}/goal', 'The goal of a thread; null, as goals are off', 'AnyObject', NOT_YOURS),
  {
    ...get(
      '/api/threads/{thread_id}/mcp-tasks',
      'Background tasks of MCP servers; none, as they are off',
      'AnyList',
      NOT_YOURS,
    ),
    query: taskListQuerySchema,
  },
  {
    ...get(
      '/api/threads/{thread_id}/subagent-batches',
      'Batches of subagents; none, as they are off',
      'AnyList',
      NOT_YOURS,
    ),
    query: batchListQuerySchema,
  },
  get(
    '/api/threads/{thread_id}/scheduled-tasks',
    'Scheduled tasks of a thread; none, as they are off',
    'AnyList',
    NOT_YOURS,
  ),
  get('/api/scheduled-tasks', 'Scheduled tasks; none, as they are off', 'AnyList'),
  get('/api/skills', 'Skills; none, as they are off', 'AnyObject'),
  get('/api/skills/custom', 'Own skills; none, as they are off', 'AnyObject'),
  off('/api/skills/{name}', 'One skill', 404),
  off('/api/skills/custom/{name}', 'One own skill', 404),
  get('/api/channels/providers', 'Chat services; none, as they are off', 'AnyObject'),
  get('/api/channels/connections', 'Connections to chat services; none, as they are off', 'AnyObject'),
  off('/api/agents', 'Custom agents', 403),
  off('/api/agents/check', 'Whether the name of an agent is free', 403),
  off('/api/agents/{name}', 'One custom agent', 403),
  off('/api/user-profile', 'What agents are told about the user', 403),
];

function get(path: string, summary: string, schema: ComponentName, failures: Record<number, string> = {}): Operation {
  return { method: 'get', path, summary, responses: { 200: json('The answer', schema), ...errors(failures) } };
}

/** A route of a feature that is off: it only says so. */
function off(path: string, summary: string, status: number): Operation {
  return { method: 'get', path, summary, responses: errors({ [status]: 'The feature is off' }) };
}
