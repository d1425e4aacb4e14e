import type { Response } from 'express';
import type { StreamMode } from '../../contracts';
import type { RunRow } from '../../db';
import type { ApiDependencies } from '../dependencies';
import { keepAlive } from '../sse/event-stream';
import { streamRun } from '../sse/stream-run';
import { cancelAfterHangUp } from './cancel-run';
import { finalValues, outcome, waitForEnd } from './wait-for-run';

/** Where a run is found; clients read its ids out of this header, so nothing may follow them. */
export function setContentLocation(response: Response, { threadId, runId }: RunRow): void {
  response.set('Content-Location', `/api/threads/${threadId}/runs/${runId}`);
}

export interface FollowOptions {
  /** Whether the run is cancelled when this client hangs up before the end. */
  cancelOnHangUp: boolean;
}

export interface StreamOptions extends FollowOptions {
  modes?: readonly StreamMode[];
  lastEventId?: string | undefined;
  gapWhenPruned?: boolean;
}

export async function sendStream(
  deps: ApiDependencies,
  response: Response,
  run: RunRow,
  options: StreamOptions,
): Promise<void> {
  setContentLocation(response, run);
  await streamRun(deps, response, {
    run,
    modes: options.modes ?? run.options.streamModes,
    ...(options.lastEventId === undefined ? {} : { lastEventId: options.lastEventId }),
    ...(options.gapWhenPruned === undefined ? {} : { gapWhenPruned: options.gapWhenPruned }),
    ...(options.cancelOnHangUp ? { onHangUp: () => cancelAfterHangUp(deps, run) } : {}),
  });
}

const WHITESPACE = '\n';

/**
 * Answers with the values that a run leaves. Blank lines keep the connection alive until then: JSON may begin with them,
 * and clients give up on a connection that is silent for minutes.
 */
export async function sendFinalValues(
  deps: ApiDependencies,
  response: Response,
  run: RunRow,
  options: FollowOptions,
): Promise<void> {
  setContentLocation(response, run);
  response.status(200).type('application/json');
  const stream = keepAlive(response, WHITESPACE, {
    heartbeatMs: deps.settings.heartbeatMs,
    shutdown: deps.shutdown,
    ...(options.cancelOnHangUp ? { onHangUp: () => cancelAfterHangUp(deps, run) } : {}),
  });
  await stream.complete(async () => {
    const row = await waitForEnd(deps, run.runId, stream.signal);
    if (stream.signal.aborted) return;
    await stream.write(row === null ? JSON.stringify(outcome(run)) : await finalValues(deps.stores, row));
  });
}
