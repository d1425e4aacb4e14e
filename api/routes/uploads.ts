import { Router } from 'express';
import type { ApiDependencies } from '../dependencies';
import { leadsNowhere } from '../files/file-errors';
import { publishUploads } from '../files/publish-upload';
import type { UploadLimits } from '../files/receive-uploads';
import { receiveUploads } from '../files/receive-uploads';
import { accessibleThread, existingThread } from '../files/thread-access';
import { ensureThreadDirectories } from '../files/thread-directories';
import { deleteUpload, describeUpload, listUploads } from '../files/uploaded-files';
import { disconnectSignal } from '../http/disconnect-signal';
import { handler, pathParameter } from '../http/handler';
import { threadNotFound } from '../http/owned';

/**
 * Files that people hand to a thread. They may come before the thread: a new chat uploads first. Documents are not
 * converted to Markdown, also where `uploads.auto_convert_documents` asks for it.
 */
export function createUploadsRouter(deps: ApiDependencies): Router {
  const router = Router();

  router.post(
    '/threads/:threadId/uploads',
    handler(async (request, response) => {
      const { threadId, directories } = await accessibleThread(deps, request, response);
      const options = { directory: directories.uploads, limits: limitsOf(deps), signal: disconnectSignal(response) };
      const { published, skipped } = await ensureThreadDirectories(directories)
        .then(() => receiveUploads(request, options))
        .then((staged) => publishUploads(directories.uploads, staged))
        .catch((error: unknown) => {
          // The directories go when the thread is deleted, also during an upload.
          throw leadsNowhere(error) ? threadNotFound(threadId) : error;
        });
      const files = published.map(({ name, originalName, size }) =>
        describeUpload(threadId, { name, size, ...(originalName === name ? {} : { originalName }) }),
      );
      const rest = skipped.length === 0 ? '' : `, skipped ${skipped.length}`;
      response.json({
        success: skipped.length === 0,
        files,
        message: `Successfully uploaded ${files.length} file(s)${rest}`,
        skipped_files: skipped,
      });
    }),
  );

  router.get(
    '/threads/:threadId/uploads/limits',
    handler(async (request, response) => {
      await accessibleThread(deps, request, response);
      const { maxFiles, maxFileSize, maxTotalSize } = limitsOf(deps);
      response.json({ max_files: maxFiles, max_file_size: maxFileSize, max_total_size: maxTotalSize });
    }),
  );

  router.get(
    '/threads/:threadId/uploads/list',
    handler(async (request, response) => {
      const { threadId, directories } = await accessibleThread(deps, request, response);
      const files = await listUploads(directories.uploads, threadId);
      response.json({ files, count: files.length });
    }),
  );

  router.delete(
    '/threads/:threadId/uploads/:filename',
    handler(async (request, response) => {
      const { directories } = await existingThread(deps, request, response);
      const filename = pathParameter(request, 'filename');
      await deleteUpload(directories.uploads, filename);
      response.json({ success: true, message: `Deleted ${filename}` });
    }),
  );

  return router;
}

function limitsOf(deps: ApiDependencies): UploadLimits {
  const { max_files, max_file_size, max_total_size } = deps.config().uploads;
  return { maxFiles: max_files, maxFileSize: max_file_size, maxTotalSize: max_total_size };
}
