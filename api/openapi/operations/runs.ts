import { cancelQuerySchema, runListQuerySchema } from '../../../contracts/schemas/run-request';
import { eventQuerySchema, messageQuerySchema } from '../../../contracts/schemas/threads';
import type { ComponentName } from '../components';
import type { Operation, ResponseDescription } from '../operation';
import { empty, errors, json } from '../operation';

const RUNS = '/api/threads/{thread_id}/runs';
const RUN = `${RUNS}/{run_id}`;
const MISSING = { 404: 'No such thread or run' };

const IDEMPOTENCY = { 'Idempotency-Key': 'The same key and body start one run only, however often they are sent' };
const RESUMPTION = { 'Last-Event-ID': 'Id of the last event that was received; the stream goes on after it' };

const STREAM: ResponseDescription = {
  description: 'Events of the run as they happen, ending in `end`',
  content: { 'text/event-stream': { schema: { type: 'string' } } },
  headers: {
    'Content-Location': { description: 'Path of the run', schema: { type: 'string' } },
    Location: { description: 'Path under which the stream can be joined again', schema: { type: 'string' } },
  },
};

const REFUSALS = {
  400: 'An unknown model, or a checkpoint of another thread',
  404: 'No such thread or checkpoint, or the thread belongs to somebody else',
  409: 'Another run is on, too many are waiting, or the idempotency key was used for something else',
};

export const RUN_OPERATIONS: Operation[] = [
  start(RUNS, 'Start a run in the background', json('The run', 'Run')),
  start(`${RUNS}/stream`, 'Start a run and follow it', STREAM),
  start(`${RUNS}/wait`, 'Start a run and wait for its values', json('The final values', 'AnyObject')),
  { ...get(RUNS, 'Runs of a thread, newest first', 'RunList'), query: runListQuerySchema },
  get(RUN, 'A run', 'Run'),
  {
    method: 'delete',
    path: RUN,
    summary: 'Delete a run that has ended',
    responses: { 204: empty('Deleted'), ...errors({ ...MISSING, 409: 'The run is on' }) },
  },
  {
    method: 'post',
    path: `${RUN}/cancel`,
    summary: 'Stop a run',
    query: cancelQuerySchema.omit({ cancel_on_disconnect: true }),
    responses: {
      202: empty('The run is being stopped'),
      204: empty('The run has stopped'),
      ...errors({ ...MISSING, 409: 'The run has ended already' }),
    },
  },
  {
    method: 'get',
    path: `${RUN}/join`,
    summary: 'Follow a run to its end',
    description:
      'Events, unless `Accept` asks for JSON. Under `/api/langgraph` it is the other way round: the final values, unless `Accept` asks for events.',
    headers: RESUMPTION,
    responses: { 200: eventsOrValues(), ...errors(MISSING) },
  },
  followed('get', 'Follow a run, from the start or from where the stream broke'),
  followed('post', 'The same, for clients that stop the run with the request'),
  prepare('regenerate', 'RegenerateRequest', 'What to send to have the last answer made anew'),
  prepare('edit-regenerate', 'EditRegenerateRequest', 'What to send to have an edited question answered anew'),
  { ...get(`${RUN}/messages`, 'Messages of a run', 'MessagePage'), query: messageQuerySchema },
  { ...get(`${RUN}/events`, 'What happened in a run, step by step', 'AnyList'), query: eventQuerySchema },
  get(`${RUN}/workspace-changes`, 'Files that a run changed; none, as changes are not recorded', 'AnyObject'),
  start('/api/runs', 'Start a run in a thread of its own, in the background', json('The run', 'Run')),
  start('/api/runs/stream', 'Start a run in a thread of its own and follow it', STREAM),
  start(
    '/api/runs/wait',
    'Start a run in a thread of its own and wait for its values',
    json('The values', 'AnyObject'),
  ),
  { ...get('/api/runs/{run_id}/messages', 'Messages of a run', 'MessagePage'), query: messageQuerySchema },
];

function start(path: string, summary: string, success: ResponseDescription): Operation {
  return {
    method: 'post',
    path,
    summary,
    headers: IDEMPOTENCY,
    body: 'RunCreateRequest',
    responses: { 200: success, ...errors(REFUSALS) },
  };
}

function get(path: string, summary: string, schema: ComponentName): Operation {
  return { method: 'get', path, summary, responses: { 200: json('The answer', schema), ...errors(MISSING) } };
}

function followed(method: 'get' | 'post', summary: string): Operation {
  return {
    method,
    path: `${RUN}/stream`,
    summary,
    query: cancelQuerySchema,
    headers: RESUMPTION,
    responses: {
      200: STREAM,
      202: empty('The run is being stopped'),
      204: empty('The run has stopped'),
      ...errors({ ...MISSING, 409: 'The run has ended already' }),
    },
  };
}

function prepare(name: string, body: ComponentName, summary: string): Operation {
  return {
    method: 'post',
    path: `${RUNS}/${name}/prepare`,
    summary,
    body,
    responses: {
      200: json('The request to send', 'AnyObject'),
      ...errors({ ...MISSING, 409: 'The message is not the last of its kind' }),
    },
  };
}

function eventsOrValues(): ResponseDescription {
  return {
    description: 'Events as they happen, or the final values',
    content: { ...STREAM.content, ...json('', 'AnyObject').content },
  };
}
