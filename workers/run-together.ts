import type { Worker } from '@temporalio/worker';

export interface WorkerPair {
  /** Polls the queue that all workers share. */
  shared: Worker;
  /** Polls the queue of this process alone. */
  own: Worker;
  /** Resolves when what the shared queue's work may still leave to the own queue has arrived there. */
  handedOver(): Promise<void>;
}

/**
 * Runs both until a shutdown. The shared queue goes first: a step that it still ends may go on in the own queue, which
 * is served until that has come in. One that fails takes the other with it.
 */
export function runTogether(pair: WorkerPair): { finished: Promise<void>; shutdown(): void } {
  const stop = (worker: Worker) => (worker.getState() === 'RUNNING' ? worker.shutdown() : undefined);
  const shutdown = () => {
    stop(pair.shared);
    void pair.handedOver().then(() => stop(pair.own));
  };
  const ends = Promise.allSettled([pair.shared.run().finally(shutdown), pair.own.run().finally(shutdown)]);
  const finished = ends.then((results) => {
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  });
  return { finished, shutdown };
}
