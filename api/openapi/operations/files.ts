import { z } from 'zod';
import { flagSchema } from '../../../contracts/schemas/fields';
import type { Operation } from '../operation';
import { empty, errors, json } from '../operation';

const UPLOADS = '/api/threads/{thread_id}/uploads';
const ARTIFACT = '/api/threads/{thread_id}/artifacts/{path}';

const bytes = (description: string) => ({
  description,
  content: { '*/*': { schema: { type: 'string', format: 'binary' } } },
});

export const FILE_OPERATIONS: Operation[] = [
  {
    method: 'post',
    path: UPLOADS,
    summary: 'Upload files to a thread',
    description:
      'The thread need not exist yet. A name that is taken gets the next free number (`a_1.txt`); files are never replaced. Names that cannot be stored safely are passed over. Where a limit is passed, nothing of the request is kept.',
    body: 'uploads',
    responses: {
      200: json('What was stored, and under which names', 'UploadResult'),
      ...errors({
        400: 'The body is no valid multipart form',
        403: "The thread's directories were tampered with",
        404: 'The thread belongs to somebody else',
        413: 'Too many files, a file too large, or all together too large',
      }),
    },
  },
  {
    method: 'get',
    path: `${UPLOADS}/limits`,
    summary: 'Limits of an upload',
    responses: {
      200: json('Numbers of files and bytes', 'UploadLimits'),
      ...errors({ 404: 'The thread belongs to somebody else' }),
    },
  },
  {
    method: 'get',
    path: `${UPLOADS}/list`,
    summary: 'Uploaded files by name',
    responses: { 200: json('The files', 'UploadList'), ...errors({ 404: 'The thread belongs to somebody else' }) },
  },
  {
    method: 'delete',
    path: `${UPLOADS}/{filename}`,
    summary: 'Delete an uploaded file',
    responses: {
      200: json('Deleted', 'Success'),
      ...errors({ 400: 'No file name', 404: 'No such thread or file' }),
    },
  },
  {
    method: 'get',
    path: ARTIFACT,
    summary: 'A file of a thread',
    description:
      'HTML, SVG and XML are always sent as downloads. One byte range is honoured. `name.skill/inner/file` reads a file within a skill archive. The entity tag of files up to 2 MiB is their SHA-256.',
    query: z.object({ download: flagSchema.optional() }),
    headers: {
      Range: 'One byte range',
      'If-Range': 'Entity tag or date for which the range counts',
      'If-None-Match': 'Entity tag that the client has already',
    },
    responses: {
      200: bytes('The file'),
      206: bytes('The range'),
      304: empty('Not changed'),
      ...errors({
        400: 'Not below `mnt/user-data/`, or no file',
        403: 'The path leads out of the thread',
        404: 'No such thread or file',
        413: 'The archive member is too large',
        416: 'The range lies beyond the end',
      }),
    },
  },
  {
    method: 'put',
    path: ARTIFACT,
    summary: 'Save an edited text file of the outputs',
    body: 'ArtifactEditRequest',
    responses: {
      200: json('Saved', 'EditedArtifact'),
      ...errors({
        400: 'Not below the outputs, or no file',
        403: 'The path leads out of the thread',
        404: 'No such thread or file',
        409: 'A run is on',
        412: 'The file changed since it was opened',
        413: 'Larger than 2 MiB',
        415: 'No text file',
      }),
    },
  },
];
