/** Runs that keep coming while something happens to the cluster. */
import { setTimeout as delay } from 'node:timers/promises';
import type { StartOptions } from '../workload/workload';
import type { ScenarioContext } from './scenario';

const SHARE_OF_CANCELS = 0.15;

/** Starts runs until the work is over, and one more; returns when all of them were accepted. */
export async function trickle(
  { workload, random, victim }: ScenarioContext,
  work: () => Promise<void>,
  { everyMs = 2_000, options = {} }: { everyMs?: number; options?: StartOptions } = {},
): Promise<void> {
  const accepted: Array<Promise<unknown>> = [];
  const draws = random.fork('load');
  const begin = async (): Promise<void> => {
    const api = victim.kind === 'api' && draws.chance(0.7) ? { api: victim } : {};
    const run = await workload.start({ ...api, ...options });
    if (!draws.chance(SHARE_OF_CANCELS)) return;
    await delay(draws.between(100, 2_000));
    await workload.cancel(run, draws.pick(['interrupt', 'rollback']));
  };
  const controller = new AbortController();
  const { signal } = controller;
  const coming = (async () => {
    while (!signal.aborted) {
      accepted.push(begin());
      await delay(draws.between(0.5, 1.5) * everyMs, undefined, { signal }).catch(() => undefined);
    }
  })();
  try {
    await work();
  } finally {
    controller.abort();
    await coming;
  }
  accepted.push(begin());
  await Promise.all(accepted);
}
