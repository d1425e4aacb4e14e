/** A run with the built-in demo model, as the line that `npm start` prints makes it. */
import { createApiClient } from '../../tests/support/product/client';

export interface FirstRun {
  /** From the request to the first event, to the first that carries text of the model, and to the last. */
  firstEventMs: number;
  firstWordMs: number;
  endMs: number;
}

export async function makeFirstRun(url: string): Promise<FirstRun> {
  const begun = performance.now();
  const run: FirstRun = { firstEventMs: 0, firstWordMs: 0, endMs: 0 };
  const { status, frames } = await createApiClient(() => url).stream({
    path: '/api/runs/stream',
    body: { input: { messages: [{ role: 'user', content: 'Hello!' }] }, stream_mode: ['messages-tuple'] },
    until: ({ event }) => {
      const now = performance.now() - begun;
      run.firstEventMs ||= now;
      if (event === 'messages') run.firstWordMs ||= now;
      run.endMs = now;
      return event === 'end';
    },
  });
  if (status !== 200 || frames.at(-1)?.event !== 'end' || run.firstWordMs === 0) {
    throw new Error(`The first run did not end well (${status}): ${JSON.stringify(frames.slice(-3))}`);
  }
  return run;
}
