/**
 * Activities: everything a workflow does to the world. Each is idempotent or guarded by the ledger, because any of them
 * may be repeated after a crash. They return ids and decisions; content goes to Postgres.
 */
import { Context } from '@temporalio/activity';
import type { RunActivities } from '../contracts';
import { beginRun } from './begin-run';
import { callModel } from './call-model';
import { deliverWebhook } from './deliver-webhook';
import type { ActivityDependencies } from './dependencies';
import { withFailures } from './failures';
import { finishRun } from './finish-run';
import { withHeartbeat } from './heartbeat';
import { createModelCalls } from './model-calls';
import type { ModelCalls } from './model-calls';
import { reconcileRuns } from './reconcile-runs';
import { runTool } from './run-tool';

export type { ActivityDependencies } from './dependencies';
export { createConversationCache } from './conversation-cache';
export { createModelPermits } from './model-permits';
export { createNextTurns } from './next-turns';
export { createPlannedCalls } from './planned-calls';
export type { NewestSetup, RunSetup, RunSetups } from './run-setups';

/** The model calls of one worker; its activities start and join them. */
export function createWorkerModelCalls(deps: ActivityDependencies): ModelCalls {
  return createModelCalls({ call: (turn, signal) => callModel(deps, turn, signal) });
}

export function createActivities(deps: ActivityDependencies, modelCalls: ModelCalls): RunActivities {
  const logOf = (runId?: string) => () => deps.log.child({ activity: Context.current().info.activityType, runId });
  return {
    beginRun: ({ runId }) => withFailures(logOf(runId), () => beginRun(deps, runId)),
    startModelCall: (input) =>
      withFailures(logOf(input.runId), async (signal) => {
        const next = await modelCalls.start(input, signal);
        return next === null ? { kind: 'running', taskQueue: deps.ownTaskQueue } : { kind: 'over', next };
      }),
    callModel: (input) =>
      withFailures(logOf(input.runId), (signal) => withHeartbeat(() => modelCalls.follow(input, signal))),
    runTool: (input) =>
      withFailures(logOf(input.runId), (signal) =>
        Context.current().info.isLocal
          ? runTool(deps, input, signal)
          : withHeartbeat(() => runTool(deps, input, signal)),
      ),
    finishRun: (input) => withFailures(logOf(input.runId), () => finishRun(deps, input)),
    deliverWebhook: ({ runId }) => withFailures(logOf(runId), (signal) => deliverWebhook(deps, runId, signal)),
    reconcileRuns: () => withFailures(logOf(), () => withHeartbeat(() => reconcileRuns(deps))),
  };
}
