/** Clients that each begin their next piece of work as soon as the last one has ended. */

export interface ClosedLoopOptions<T> {
  clients: number;
  /** No work begins after so long; what has begun is finished. */
  durationMs: number;
  signal: AbortSignal;
  work: () => Promise<T>;
}

export interface ClosedLoopResult<T> {
  results: T[];
  /** From the start to the end of the last piece of work. */
  elapsedMs: number;
}

/**
 * Throws what the first failing piece of work threw, once every client has stopped: nothing of this load is left when the
 * next one begins.
 */
export async function closedLoop<T>({ clients, durationMs, signal, work }: ClosedLoopOptions<T>) {
  const results: T[] = [];
  const begun = performance.now();
  let failed = false;
  const client = async (): Promise<void> => {
    while (!failed && !signal.aborted && performance.now() - begun < durationMs) {
      try {
        results.push(await work());
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: clients }, client));
  const failure = ends.find((end) => end.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
  signal.throwIfAborted();
  return { results, elapsedMs: performance.now() - begun } satisfies ClosedLoopResult<T>;
}
