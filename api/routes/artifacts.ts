import { Router } from 'express';
import { z } from 'zod';
import { AppError } from '../../contracts';
import type { ApiDependencies } from '../dependencies';
import { artifactPath, requireOutput } from '../files/artifact-path';
import { editArtifact, requireEditableName } from '../files/edit-artifact';
import { presentationOf } from '../files/media-type';
import { readArtifact } from '../files/read-artifact';
import { sendContent } from '../files/send-content';
import { accessibleThread, existingThread } from '../files/thread-access';
import { disconnectSignal } from '../http/disconnect-signal';
import { bodyAsSent } from '../http/body';
import { handler, pathParameter } from '../http/handler';
import { parse } from '../http/validation';

export const artifactEditRequestSchema = z
  .object({ content: z.string(), expected_sha256: z.string().regex(/^[0-9a-fA-F]{64}$/) })
  .meta({ id: 'ArtifactEditRequest' });

/** The files of a thread as people open, download and edit them. */
export function createArtifactsRouter(deps: ApiDependencies): Router {
  const router = Router();

  router.get(
    '/threads/:threadId/artifacts/*path',
    handler(async (request, response) => {
      const { directories } = await accessibleThread(deps, request, response);
      const path = artifactPath(directories, pathParameter(request, 'path'));
      const signal = disconnectSignal(response);
      const { content, name, cacheControl } = await readArtifact(directories, path, signal);
      try {
        const presentation = presentationOf(name, content.start, request.query['download'] === 'true');
        await sendContent(request, response, content, { ...presentation, cacheControl, signal, log: deps.log });
      } finally {
        await content.close();
      }
    }),
  );

  router.put(
    '/threads/:threadId/artifacts/*path',
    handler(async (request, response) => {
      const { owner, threadId, directories } = await existingThread(deps, request, response);
      const body = parse(artifactEditRequestSchema, bodyAsSent(request, response), 'body');
      const path = artifactPath(directories, pathParameter(request, 'path'));
      requireOutput(path);
      requireEditableName(path);
      if (!(await deps.stores.threads.hold(owner, threadId, 'artifact write'))) {
        throw new AppError('thread_busy', 'Thread has a run in flight. Save after the run finishes.');
      }
      const edit = { content: body.content, expectedSha256: body.expected_sha256 };
      // Released before the answer: whoever reads it may save again or start a run at once.
      const edited = await editArtifact(directories, path, edit).finally(() => deps.stores.threads.release(threadId));
      response.json(edited);
    }),
  );

  return router;
}
