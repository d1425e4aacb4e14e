/** What a run was doing, and in which worker, as Temporal knows it. */
import type { Client } from '@temporalio/client';
import { runWorkflowId } from '../../contracts';

/** In a call of the model, in a tool that is an activity of its own, or in what lies between. */
export type Phase = 'model' | 'tool' | 'between';

export interface Whereabouts {
  phase: Phase;
  /** Who had taken the work, as `<process id>@<host>`; null where nobody had. */
  worker: string | null;
}

/** As the protocol numbers it. */
const ACTIVITY_STARTED = 2;
const RECENT_EVENTS = 20;

/** Null where the workflow has ended. Soon after a kill this still tells how it was before. */
export async function whereaboutsOf(client: Client, runId: string): Promise<Whereabouts | null> {
  const workflowId = runWorkflowId(runId);
  const { status, raw } = await client.workflow.getHandle(workflowId).describe();
  if (status.name !== 'RUNNING') return null;
  const activity = raw.pendingActivities?.[0];
  if (activity) {
    const phase = activity.activityType?.name === 'callModel' ? 'model' : 'tool';
    const started = Number(activity.state) === ACTIVITY_STARTED;
    return { phase, worker: started ? (activity.lastWorkerIdentity ?? null) : null };
  }
  return { phase: 'between', worker: await lastWorkerOf(client, workflowId) };
}

/** The worker that has the workflow in its memory, and gets its next task. */
async function lastWorkerOf(client: Client, workflowId: string): Promise<string | null> {
  const { history } = await client.workflowService.getWorkflowExecutionHistoryReverse({
    namespace: client.options.namespace,
    execution: { workflowId },
    maximumPageSize: RECENT_EVENTS,
  });
  const started = history?.events?.find((event) => event.workflowTaskStartedEventAttributes);
  return started?.workflowTaskStartedEventAttributes?.identity ?? null;
}
