/** The work of the soak: runs of random plans, some on threads that have runs, some stopped by their users. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../random';
import type { Workload, WorkloadRun } from '../workload/workload';

export interface Load {
  /** Starts a run a little later; at once where too many are open is never. */
  add(): void;
  /** Waits until at most so many runs are open, or until the time is over. */
  below(open: number, timeoutMs: number): Promise<void>;
  /** Waits until every request of the load was answered. */
  accepted(): Promise<void>;
  readonly open: number;
  /** Requests that no API took. */
  readonly failures: string[];
}

const ON_OLD_THREAD = 0.2;
const STOPPED = 0.1;
const LONGEST_PAUSE_MS = 2_500;
const POLL_MS = 200;

export function createLoad(workload: Workload, random: Random): Load {
  const runs: WorkloadRun[] = [];
  const requests = new Set<Promise<void>>();
  const failures: string[] = [];

  async function oneRun(draws: Random): Promise<void> {
    await delay(draws.between(0, LONGEST_PAUSE_MS));
    const threadId = runs.length > 0 && draws.chance(ON_OLD_THREAD) ? draws.pick(runs).threadId : undefined;
    const run = await workload.start(threadId === undefined ? {} : { threadId });
    runs.push(run);
    if (!draws.chance(STOPPED)) return;
    await delay(draws.between(200, 4_000));
    await workload.cancel(run, draws.pick(['interrupt', 'rollback']));
  }

  const open = (): number => requests.size + runs.filter(({ hasEnded }) => !hasEnded).length;
  return {
    failures,
    get open() {
      return open();
    },
    add() {
      const request = oneRun(random.fork(`run ${runs.length + requests.size}`)).catch((error: unknown) => {
        failures.push(error instanceof Error ? error.message : String(error));
      });
      requests.add(request);
      void request.then(() => requests.delete(request));
    },
    async below(limit, timeoutMs) {
      const deadline = Date.now() + timeoutMs;
      while (open() > limit && Date.now() < deadline) await delay(POLL_MS);
    },
    accepted: async () => void (await Promise.all(requests)),
  };
}
