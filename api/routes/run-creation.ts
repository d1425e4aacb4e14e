import type { Request, Response } from 'express';
import { Router } from 'express';
import { isTerminal } from '../../core/run-status';
import type { RunRow } from '../../db';
import { toRunRecord } from '../../db';
import type { ApiDependencies } from '../dependencies';
import { handler, identityOf } from '../http/handler';
import { threadIdOf } from '../http/thread-id';
import { fault } from '../http/validation';
import type { AdmittedRun } from '../runs/admit-run';
import { admitRun, statelessThread } from '../runs/admit-run';
import { parseRunRequest } from '../runs/parse-run-request';
import { sendFinalValues, sendStream, setContentLocation } from '../runs/run-responses';
import { outcome } from '../runs/wait-for-run';

const LONGEST_KEY = 255;

type Admit = (request: Request, response: Response) => Promise<AdmittedRun>;
type Answer = (deps: ApiDependencies, response: Response, admitted: AdmittedRun) => Promise<void>;

/** Requests that start a run: on a thread or without one, and each in three ways of hearing what became of it. */
export function createRunCreationRouter(deps: ApiDependencies): Router {
  const router = Router();
  const ways: Array<[path: string, answer: Answer]> = [
    ['', answerWithRecord],
    ['/stream', answerWithStream],
    ['/wait', answerWithValues],
  ];
  const kinds: Array<[path: string, admit: Admit]> = [
    ['/threads/:threadId/runs', (request, response) => admitOnThread(deps, request, response)],
    ['/runs', (request, response) => admitStateless(deps, request, response)],
  ];
  for (const [prefix, admit] of kinds) {
    for (const [path, answer] of ways) {
      router.post(
        prefix + path,
        handler(async (request, response) => answer(deps, response, await admit(request, response))),
      );
    }
  }
  return router;
}

async function admitOnThread(deps: ApiDependencies, request: Request, response: Response): Promise<AdmittedRun> {
  const threadId = threadIdOf(request);
  const body = parseRunRequest(request.body);
  const idempotencyKey = idempotencyKeyOf(request);
  return admitRun(deps, {
    owner: identityOf(response).owner,
    threadId,
    request: body,
    // Only a client that says so makes a thread here: a mistyped id is more likely.
    createThread: body.if_not_exists === 'create',
    ...(idempotencyKey === null ? {} : { idempotencyKey }),
  });
}

async function admitStateless(deps: ApiDependencies, request: Request, response: Response): Promise<AdmittedRun> {
  const body = parseRunRequest(request.body);
  return admitRun(deps, { owner: identityOf(response).owner, request: body, ...statelessThread(body) });
}

function idempotencyKeyOf(request: Request): string | null {
  const key = request.get('idempotency-key') ?? '';
  if (key.length > LONGEST_KEY) {
    const msg = `String should have at most ${LONGEST_KEY} characters`;
    throw fault('string_too_long', ['header', 'idempotency-key'], msg, key, { max_length: LONGEST_KEY });
  }
  return key === '' ? null : key;
}

async function answerWithRecord(_deps: ApiDependencies, response: Response, admitted: AdmittedRun): Promise<void> {
  await admitted.started;
  setContentLocation(response, admitted.row);
  response.json(toRunRecord(admitted.row));
}

async function answerWithStream(deps: ApiDependencies, response: Response, admitted: AdmittedRun): Promise<void> {
  const { row } = admitted;
  // Relative to the address that official clients are given; with it they resume a broken stream.
  response.set('Location', `/threads/${row.threadId}/runs/${row.runId}/stream`);
  await sendStream(deps, response, row, { cancelOnHangUp: cancelsOnHangUp(admitted), gapWhenPruned: true });
}

async function answerWithValues(deps: ApiDependencies, response: Response, admitted: AdmittedRun): Promise<void> {
  const { row, created } = admitted;
  if (!created && isTerminal(row.status)) {
    setContentLocation(response, row);
    response.json(outcome(row));
    return;
  }
  await sendFinalValues(deps, response, row, { cancelOnHangUp: cancelsOnHangUp(admitted) });
}

/** Only the connection that made the run can take it along. */
function cancelsOnHangUp({ row, created }: { row: RunRow; created: boolean }): boolean {
  return created && row.onDisconnect === 'cancel';
}
