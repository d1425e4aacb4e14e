import { Router } from 'express';
import type { z } from 'zod';
import { AppError } from '../../contracts';
import { eventQuerySchema, messageQuerySchema } from '../../contracts/schemas/threads';
import type { MessageQuery, RunRow } from '../../db';
import { storableText } from '../../core/text';
import type { ApiDependencies } from '../dependencies';
import { handler, identityOf, pathParameter } from '../http/handler';
import { readableThread, runNotFound } from '../http/owned';
import { parse } from '../http/validation';
import type { MessagePage } from '../state/journal-view';
import { messagePage, messageRow } from '../state/journal-view';

const NO_CHANGES = {
  available: false,
  version: 1,
  summary: {
    created: 0,
    modified: 0,
    deleted: 0,
    symlink_created: 0,
    additions: 0,
    deletions: 0,
    truncated: false,
  },
  files: [],
  limits: {},
};

/** The record of what was said and done. Lists of what is not there are empty: a new chat asks before it exists. */
export function createMessagesRouter(deps: ApiDependencies): Router {
  const router = Router();
  const { journal, runs } = deps.stores;

  router.get(
    '/threads/:threadId/messages',
    handler(async (request, response) => {
      const query = pageQuery(parse(messageQuerySchema, request.query, 'query'));
      const { threadId, exists } = await readableThread(deps, request, response);
      const rows = exists ? await journal.threadMessages(threadId, query) : [];
      response.json(rows.map(messageRow));
    }),
  );

  router.get(
    '/threads/:threadId/messages/page',
    handler(async (request, response) => {
      const { after_seq: after, ...query } = parse(messageQuerySchema, request.query, 'query');
      if (after !== undefined) {
        throw new AppError('invalid_request', 'after_seq is not supported by this backward-only endpoint');
      }
      const { threadId, exists } = await readableThread(deps, request, response);
      const oneMore = pageQuery({ ...query, limit: query.limit + 1 });
      const rows = exists ? await journal.visibleMessages(threadId, oneMore) : [];
      const page = messagePage(rows, query.limit, false);
      const first = rows.length > query.limit ? rows.at(-query.limit) : undefined;
      response.json({ ...page, next_before_seq: first?.seq ?? null });
    }),
  );

  async function runPage(run: RunRow | null, query: z.output<typeof messageQuerySchema>): Promise<MessagePage> {
    if (run === null) return { data: [], has_more: false };
    const rows = await journal.runMessages(run.runId, pageQuery({ ...query, limit: query.limit + 1 }));
    return messagePage(rows, query.limit, query.after_seq !== undefined);
  }

  router.get(
    '/threads/:threadId/runs/:runId/messages',
    handler(async (request, response) => {
      const query = parse(messageQuerySchema, request.query, 'query');
      const { owner, threadId } = await readableThread(deps, request, response);
      const run = await runs.get(owner, pathParameter(request, 'runId'));
      response.json(await runPage(run?.threadId === threadId ? run : null, query));
    }),
  );

  router.get(
    '/runs/:runId/messages',
    handler(async (request, response) => {
      const query = parse(messageQuerySchema, request.query, 'query');
      const runId = pathParameter(request, 'runId');
      const run = await runs.get(identityOf(response).owner, runId);
      if (run === null) throw runNotFound(runId);
      response.json(await runPage(run, query));
    }),
  );

  router.get(
    '/threads/:threadId/runs/:runId/events',
    handler(async (request, response) => {
      const query = parse(eventQuerySchema, request.query, 'query');
      const { owner, threadId } = await readableThread(deps, request, response);
      const run = await runs.get(owner, pathParameter(request, 'runId'));
      const types = storableText(query.event_types ?? '')
        .split(',')
        .filter((type) => type !== '');
      const options = {
        limit: query.limit,
        afterSeq: query.after_seq,
        ...(types.length === 0 ? {} : { types }),
        ...(query.task_id === undefined ? {} : { taskId: storableText(query.task_id) }),
      };
      response.json(run?.threadId === threadId ? await journal.runEvents(run.runId, options) : []);
    }),
  );

  router.get(
    '/threads/:threadId/runs/:runId/workspace-changes',
    handler(async (request, response) => {
      await readableThread(deps, request, response);
      response.json(NO_CHANGES);
    }),
  );

  return router;
}

function pageQuery(query: z.output<typeof messageQuerySchema>): MessageQuery {
  return {
    limit: query.limit,
    ...(query.before_seq === undefined ? {} : { beforeSeq: query.before_seq }),
    ...(query.after_seq === undefined ? {} : { afterSeq: query.after_seq }),
  };
}
