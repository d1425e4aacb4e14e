import { messageQuerySchema } from '../../../contracts/schemas/threads';
import { flagSchema } from '../../../contracts/schemas/fields';
import { z } from 'zod';
import type { ComponentName } from '../components';
import type { Operation } from '../operation';
import { empty, errors, json } from '../operation';

const THREAD = '/api/threads/{thread_id}';
const MISSING = { 404: 'No such thread' };
const BUSY = { 409: 'A run is on' };

export const THREAD_OPERATIONS: Operation[] = [
  post('/api/threads', 'Create a thread', 'ThreadCreateRequest', 'Thread', {
    404: 'The id belongs to somebody else',
    409: 'The id exists, and `if_exists` is `raise`',
  }),
  {
    ...post(
      '/api/threads/search',
      'List own threads, pinned and newest first',
      'ThreadSearchRequest',
      'ThreadList',
      {},
    ),
    bodyOptional: true,
  },
  { ...post('/api/threads/count', 'Count own threads', 'ThreadCountRequest', 'Count', {}), bodyOptional: true },
  get(THREAD, 'A thread and its latest values', 'Thread'),
  {
    method: 'patch',
    path: THREAD,
    summary: 'Merge metadata into a thread',
    body: 'ThreadPatchRequest',
    responses: { 200: json('The thread', 'Thread'), ...errors(MISSING) },
  },
  {
    method: 'delete',
    path: THREAD,
    summary: 'Delete a thread with everything in it',
    responses: { 200: json('Deleted', 'Success'), ...errors({ ...MISSING, ...BUSY }) },
  },
  get(`${THREAD}/state`, 'The latest state', 'ThreadState'),
  post(`${THREAD}/state`, 'Overwrite parts of the state', 'ThreadStateUpdateRequest', 'ThreadState', {
    404: 'No such thread or checkpoint',
    ...BUSY,
  }),
  {
    method: 'patch',
    path: `${THREAD}/state`,
    summary: 'Merge metadata into a thread, as older clients do',
    body: 'ThreadPatchRequest',
    responses: { 204: empty('Merged'), ...errors(MISSING) },
  },
  get(`${THREAD}/state/{checkpoint_id}`, 'The state at a checkpoint', 'ThreadState', {
    404: 'No such thread or checkpoint',
  }),
  post(`${THREAD}/state/checkpoint`, 'The state at a checkpoint', 'CheckpointStateRequest', 'ThreadState', {
    404: 'No such thread or checkpoint',
  }),
  {
    ...post(`${THREAD}/history`, 'Checkpoints, newest first', 'ThreadHistoryRequest', 'ThreadStateList', MISSING),
    bodyOptional: true,
  },
  post(`${THREAD}/branches`, 'Go on from an earlier answer in a new thread', 'ThreadBranchRequest', 'AnyObject', {
    ...MISSING,
    409: 'The thread cannot be branched there',
  }),
  {
    method: 'post',
    path: `${THREAD}/copy`,
    summary: 'Copy a thread',
    responses: { 200: json('The copy', 'Thread'), ...errors(MISSING) },
  },
  {
    ...get(`${THREAD}/token-usage`, 'Tokens used by the runs of a thread', 'AnyObject'),
    query: z.object({ include_active: flagSchema.optional() }),
  },
  { ...get(`${THREAD}/messages`, 'Messages of a thread', 'MessageList'), query: messageQuerySchema },
  {
    ...get(`${THREAD}/messages/page`, 'Visible messages, from the newest backwards', 'MessagePage'),
    query: messageQuerySchema.omit({ after_seq: true }),
  },
];

function get(
  path: string,
  summary: string,
  schema: ComponentName,
  failures: Record<number, string> = MISSING,
): Operation {
  return { method: 'get', path, summary, responses: { 200: json('The answer', schema), ...errors(failures) } };
}

function post(
  path: string,
  summary: string,
  body: ComponentName,
  schema: ComponentName,
  failures: Record<number, string>,
): Operation {
  return { method: 'post', path, summary, body, responses: { 200: json('The answer', schema), ...errors(failures) } };
}
