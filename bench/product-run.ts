/** One run of the product as a client sees it: created and followed over HTTP in one request. */
import type { ApiClient } from '../tests/support/product/client';
import { ask } from '../tests/support/product/client';

export interface ProductRun {
  runId: string;
  /** From the request to the last frame. */
  milliseconds: number;
  /** From the request to the first frame. */
  firstEventMilliseconds: number;
}

export async function makeRun(api: ApiClient, question: string, streamMode = 'updates'): Promise<ProductRun> {
  const begun = performance.now();
  let firstEventMilliseconds = 0;
  const { frames } = await api.stream({
    path: '/api/runs/stream',
    body: ask(question, { stream_mode: [streamMode] }),
    until: (frame, all) => {
      if (all.length === 1) firstEventMilliseconds = performance.now() - begun;
      return frame.event === 'end';
    },
  });
  const milliseconds = performance.now() - begun;
  const failure = frames.find(({ event }) => event === 'error');
  if (failure !== undefined || frames.at(-1)?.event !== 'end') {
    throw new Error(`The run did not end well: ${JSON.stringify(failure ?? frames.at(-1))}`);
  }
  const { run_id: runId } = frames[0]?.data as { run_id: string };
  return { runId, milliseconds, firstEventMilliseconds };
}
