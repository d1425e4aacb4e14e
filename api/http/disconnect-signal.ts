import type { Response } from 'express';

/** Aborts when the client goes away before its answer is complete. */
export function disconnectSignal(response: Response): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) controller.abort(new Error('The client closed the connection'));
  });
  return controller.signal;
}
