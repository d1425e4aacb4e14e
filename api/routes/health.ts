import { setTimeout as delay } from 'node:timers/promises';
import { Router } from 'express';
import type { ApiDependencies } from '../dependencies';
import { isProvisionerUp } from '../health/provisioner';
import { handler } from '../http/handler';

const SERVICE = 'deer-flow-gateway';
const PROBE_TIMEOUT_MS = 2_000;
const NO_RUN = '00000000-0000-0000-0000-000000000000';

type Probe = () => Promise<boolean>;

/** Whether the process lives, and whether it can do its work. Open to everybody: load balancers sign in nowhere. */
export function createHealthRouter(
  deps: Pick<ApiDependencies, 'config' | 'configFault' | 'stores' | 'temporalReachable'>,
): Router {
  const router = Router();
  const { events, log, threads } = deps.stores;
  const probes = {
    database: shared(() => answers(threads.ownerOf('health'))),
    checkpointer: shared(() => answers(log.head('health'))),
    // Streams lie in the database, also where the configuration names a broker: that is what has to answer.
    stream_bridge: shared(() => answers(events.lastNumber(NO_RUN))),
    temporal: shared(() => deps.temporalReachable(PROBE_TIMEOUT_MS)),
  };
  const provisionerAddress = () => deps.config().sandbox.provisioner_url || null;
  const provisioner = shared(() => isProvisionerUp(provisionerAddress() ?? '', AbortSignal.timeout(PROBE_TIMEOUT_MS)));

  router.get('/health', (_request, response) => {
    response.json({ status: 'healthy', service: SERVICE });
  });

  router.get(
    '/health/ready',
    handler(async (_request, response) => {
      const [results, sandboxes] = await Promise.all([
        Promise.all(Object.entries(probes).map(async ([name, probe]) => [name, await verdict(probe)] as const)),
        provisionerAddress() === null ? 'not_configured' : verdict(provisioner),
      ]);
      const ready = results.every(([, result]) => result === 'ok');
      const fault = deps.configFault();
      // With an earlier configuration in force the process does its work: that is no reason to take it out of service.
      const config = fault === null ? 'ok' : `stale: ${fault}`;
      // All instances share one provisioner: to take this one out of service would help nobody.
      const report = { ...Object.fromEntries(results), config, provisioner: sandboxes };
      response.status(ready ? 200 : 503).json({ status: ready ? 'ready' : 'degraded', service: SERVICE, ...report });
    }),
  );
  return router;
}

async function verdict(probe: Probe): Promise<'ok' | 'unreachable'> {
  return (await probe()) ? 'ok' : 'unreachable';
}

async function answers(question: Promise<unknown>): Promise<boolean> {
  return question.then(
    () => true,
    () => false,
  );
}

/** One probe of a kind at a time, however many ask, and none that takes longer than its limit. */
function shared(probe: Probe): Probe {
  let running: Promise<boolean> | null = null;
  return async () => {
    const limit = new AbortController();
    running ??= probe()
      .catch(() => false)
      .finally(() => {
        running = null;
      });
    const late = delay(PROBE_TIMEOUT_MS, false, { signal: limit.signal, ref: false }).catch(() => false);
    return Promise.race([running, late]).finally(() => limit.abort());
  };
}
