import type { Environment } from '../../../config';
import { openTemporal } from '../../../temporal';
import { timeSteps } from '../time-steps';
import type { Finding } from '../finding';

const ABOUT = 'Temporal';
const REACH_TIMEOUT_MS = 5_000;
const MEASURE_TIMEOUT_MS = 30_000;
/** A shard that reads its queue 20 times a second makes every step wait for the next 50 ms. */
const SLOW_STEP_MS = 35;

const POLL_LIMITS = [
  'history.transferProcessorMaxPollRPS',
  'history.timerProcessorMaxPollRPS',
  'history.visibilityProcessorMaxPollRPS',
];

export async function checkTemporal(settings: Environment['temporal'] & { address: string }): Promise<Finding[]> {
  const { address, namespace } = settings;
  const temporal = openTemporal({ address, namespace });
  try {
    if (!(await temporal.isReachable(REACH_TIMEOUT_MS))) {
      const text = `no Temporal server with the namespace ${namespace} answers at ${address}`;
      return [
        {
          about: ABOUT,
          status: 'refused',
          text,
          remedy: 'start it, or correct TEMPORAL_ADDRESS or TEMPORAL_NAMESPACE',
        },
      ];
    }
    const reached: Finding = { about: ABOUT, status: 'ok', text: `the server at ${address} answers` };
    return [reached, await checkStep(settings)];
  } finally {
    await temporal.close();
  }
}

async function checkStep({ address, namespace }: { address: string; namespace: string }): Promise<Finding> {
  try {
    const ms = await timeSteps({ address, namespace, timeoutMs: MEASURE_TIMEOUT_MS });
    const text = `a durable step takes ${ms.toFixed(1)} ms`;
    if (ms < SLOW_STEP_MS) return { about: ABOUT, status: 'ok', text };
    const remedy = `raise ${POLL_LIMITS.join(', ')} of the server, for example to 2000: by default every step waits up to 50 ms`;
    return { about: ABOUT, status: 'warning', text, remedy };
  } catch {
    const text = `no workflow of ours ended within ${MEASURE_TIMEOUT_MS / 1000} s`;
    return { about: ABOUT, status: 'refused', text, remedy: 'look at the server: it answers, but runs nothing' };
  }
}
