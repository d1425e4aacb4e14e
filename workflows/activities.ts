import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { RunActivities } from '../contracts';

/**
 * How workflows call activities: time-outs and retries, in one place. Failures of the catalogue say themselves whether
 * trying again can help; everything else is retried without end, because a run must outlive any outage.
 */
const ENDLESS = { initialInterval: '200ms', maximumInterval: '10s', backoffCoefficient: 2 } as const;

/** Longer than any model call: stalls are noticed by the activity, death of the worker by the heartbeat. */
const MODEL_CALL_TIMEOUT = '2h';
const HEARTBEAT_TIMEOUT = '6s';
/** A worker that does not fetch what is under way in it is gone. */
const OWN_QUEUE_TIMEOUT = '5s';
const LOCAL_TIMEOUT = '60s';
const GRACE_MS = 30_000;

/** Work of milliseconds, done beside the workflow task that asks for it. */
export const local = proxyLocalActivities<RunActivities>({ startToCloseTimeout: LOCAL_TIMEOUT, retry: ENDLESS });

const MODEL_CALL = {
  startToCloseTimeout: MODEL_CALL_TIMEOUT,
  heartbeatTimeout: HEARTBEAT_TIMEOUT,
  // The run ends at once; what the call still wanted to write is refused.
  cancellationType: 'TRY_CANCEL',
} as const;

/** A model call in whichever worker comes first. */
export const { callModel } = proxyActivities<RunActivities>({ ...MODEL_CALL, retry: ENDLESS });

/** A model call that is under way in one worker. Tried once: where that worker is gone, any other may ask again. */
export function callModelAt(taskQueue: string, summary: string): RunActivities['callModel'] {
  return proxyActivities<RunActivities>({
    ...MODEL_CALL,
    taskQueue,
    summary,
    scheduleToStartTimeout: OWN_QUEUE_TIMEOUT,
    retry: { maximumAttempts: 1 },
  }).callModel;
}

export const { reconcileRuns } = proxyActivities<RunActivities>({
  startToCloseTimeout: '2m',
  heartbeatTimeout: HEARTBEAT_TIMEOUT,
  retry: { ...ENDLESS, maximumAttempts: 3 },
});

/** Five tries over about ten minutes. */
export const { deliverWebhook } = proxyActivities<RunActivities>({
  startToCloseTimeout: '30s',
  retry: { initialInterval: '10s', backoffCoefficient: 3.6, maximumInterval: '8m', maximumAttempts: 5 },
});

/** A tool that may take long. Its process is stopped before the run goes on. */
export function slowTool(timeoutMs: number, summary: string): RunActivities['runTool'] {
  return proxyActivities<RunActivities>({
    startToCloseTimeout: timeoutMs + GRACE_MS,
    summary,
    heartbeatTimeout: HEARTBEAT_TIMEOUT,
    retry: ENDLESS,
    cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  }).runTool;
}
