import type { Request, Response } from 'express';
import { Router } from 'express';
import { cancelQuerySchema, runListQuerySchema } from '../../contracts/schemas/run-request';
import { RUN_STATUSES, AppError } from '../../contracts';
import { isTerminal } from '../../core/run-status';
import type { RunRow } from '../../db';
import { toRunRecord } from '../../db';
import type { ApiDependencies } from '../dependencies';
import { disconnectSignal } from '../http/disconnect-signal';
import { handler } from '../http/handler';
import { ownRun, readableThread, runNotFound } from '../http/owned';
import { sendEmpty } from '../http/responses';
import { parse } from '../http/validation';
import { usedLanggraphPrefix } from '../middleware/langgraph-prefix';
import { cancelRun } from '../runs/cancel-run';
import { joinerModes } from '../runs/parse-run-request';
import { sendFinalValues, sendStream } from '../runs/run-responses';
import { waitForEnd } from '../runs/wait-for-run';

/** Most runs that one list holds, whatever was asked for. */
const LONGEST_LIST = 1_000;

/** Longest time that a cancel waits for the run's end before it answers that the end is still to come. */
const CANCEL_WAIT_MS = 120_000;

/** Runs that are there: lists, single ones, cancelling and following them. */
export function createRunsRouter(deps: ApiDependencies): Router {
  const router = Router();

  router.get(
    '/threads/:threadId/runs',
    handler(async (request, response) => {
      const { owner, threadId } = await readableThread(deps, request, response);
      const { limit, offset, status } = parse(runListQuerySchema, request.query, 'query');
      const known = status === undefined || RUN_STATUSES.some((one) => one === status);
      const query = { limit: Math.min(limit, LONGEST_LIST), offset, ...(status === undefined ? {} : { status }) };
      const rows = known ? await deps.stores.runs.list(owner, threadId, query) : [];
      response.json(rows.map(toRunRecord));
    }),
  );

  router.get(
    '/threads/:threadId/runs/:runId',
    handler(async (request, response) => {
      response.json(toRunRecord(await ownRun(deps, request, response)));
    }),
  );

  router.delete(
    '/threads/:threadId/runs/:runId',
    handler(async (request, response) => {
      const run = await ownRun(deps, request, response);
      if (!isTerminal(run.status)) throw new AppError('conflict', `Run ${run.runId} is still active`);
      if (!(await deps.stores.runs.delete(run.owner, run.runId))) throw runNotFound(run.runId);
      sendEmpty(response, 204);
    }),
  );

  router.post(
    '/threads/:threadId/runs/:runId/cancel',
    handler(async (request, response) => {
      const { wait, action } = parse(cancelQuerySchema, request.query, 'query');
      const run = await ownRun(deps, request, response);
      await cancelRun(deps, run, action ?? 'interrupt');
      await answerCancel(deps, response, run, wait);
    }),
  );

  router.get(
    '/threads/:threadId/runs/:runId/join',
    handler(async (request, response) => {
      refuseHead(request, response, 'GET');
      const { cancel_on_disconnect: cancelOnHangUp } = parse(cancelQuerySchema, request.query, 'query');
      const run = await ownRun(deps, request, response);
      if (wantsJson(request, response)) await sendFinalValues(deps, response, run, { cancelOnHangUp });
      else await joinStream(deps, request, response, run, cancelOnHangUp);
    }),
  );

  const stream = handler(async (request, response) => {
    refuseHead(request, response, 'GET, POST');
    const query = parse(cancelQuerySchema, request.query, 'query');
    const run = await ownRun(deps, request, response);
    if (query.action !== undefined) {
      await cancelRun(deps, run, query.action);
      if (query.wait) return answerCancel(deps, response, run, true);
    }
    await joinStream(deps, request, response, run, query.cancel_on_disconnect);
  });
  router.get('/threads/:threadId/runs/:runId/stream', stream);
  router.post('/threads/:threadId/runs/:runId/stream', stream);

  return router;
}

/** Express takes HEAD as GET; here that would hold the connection until the run's end, or cancel the run. */
function refuseHead(request: Request, response: Response, allowed: string): void {
  if (request.method !== 'HEAD') return;
  response.set('Allow', allowed);
  throw new AppError('method_not_allowed', 'Method Not Allowed');
}

async function joinStream(
  deps: ApiDependencies,
  request: Request,
  response: Response,
  run: RunRow,
  cancelOnHangUp: boolean,
): Promise<void> {
  const modes = joinerModes(request);
  const lastEventId = request.get('last-event-id');
  await sendStream(deps, response, run, { cancelOnHangUp, lastEventId, ...(modes === null ? {} : { modes }) });
}

/** Under the official client's prefix a join is JSON, elsewhere a stream, unless the request says otherwise. */
function wantsJson(request: Request, response: Response): boolean {
  const accept = request.get('accept') ?? '';
  if (usedLanggraphPrefix(response)) return !accept.includes('text/event-stream');
  return accept.includes('application/json');
}

async function answerCancel(deps: ApiDependencies, response: Response, run: RunRow, wait: boolean): Promise<void> {
  if (!wait) return sendEmpty(response, 202);
  const signal = AbortSignal.any([disconnectSignal(response), deps.shutdown, AbortSignal.timeout(CANCEL_WAIT_MS)]);
  const ended = await waitForEnd(deps, run.runId, signal);
  sendEmpty(response, ended === null ? 202 : 204);
}
