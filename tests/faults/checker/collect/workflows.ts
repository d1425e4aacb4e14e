import { WorkflowNotFoundError } from '@temporalio/common';
import type { Client } from '@temporalio/client';
import { AGENT_RUN_WORKFLOW, runWorkflowId } from '../../../../contracts';
import type { PendingActivityFact, WorkflowFact, WorkflowTaskFailure } from '../evidence';

const AT_ONCE = 8;

/**
 * The executions of the workflow of every run, of workflows of runs that the database does not know, and of every other
 * workflow that is open.
 */
export async function collectWorkflows(temporal: Client, runIds: readonly string[]): Promise<WorkflowFact[]> {
  const ids = new Set(runIds.map(runWorkflowId));
  const query = `WorkflowType = '${AGENT_RUN_WORKFLOW}' or ExecutionStatus = 'Running'`;
  for await (const { workflowId } of temporal.workflow.list({ query })) ids.add(workflowId);
  const waiting = ids.values();
  const found: WorkflowFact[][] = [];
  const lanes = Array.from({ length: AT_ONCE }, async () => {
    for (const workflowId of waiting) found.push(await executionsOf(temporal, workflowId));
  });
  await Promise.all(lanes);
  return found.flat().sort((left, right) => (left.workflowId < right.workflowId ? -1 : 1));
}

/** The newest execution first. */
async function executionsOf(temporal: Client, workflowId: string): Promise<WorkflowFact[]> {
  const executions: WorkflowFact[] = [];
  try {
    for (let executionId: string | undefined; ;) {
      const { fact, before } = await execution(temporal, workflowId, executionId);
      executions.push(fact);
      if (before === null) return executions;
      executionId = before;
    }
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return executions;
    throw error;
  }
}

async function execution(
  temporal: Client,
  workflowId: string,
  named?: string,
): Promise<{ fact: WorkflowFact; before: string | null }> {
  const handle = temporal.workflow.getHandle(workflowId, named);
  const description = await handle.describe();
  const { events } = await handle.fetchHistory();
  const { pendingWorkflowTask, pendingActivities } = description.raw;
  const continued = events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId;
  return {
    before: continued === undefined || continued === null || continued === '' ? null : continued,
    fact: {
      workflowId,
      executionId: description.runId,
      status: description.status.name,
      historyEvents: description.historyLength,
      historyBytes: description.historySize ?? 0,
      taskFailures: (events ?? []).flatMap(taskFailure),
      pendingTaskAttempt: pendingWorkflowTask?.attempt ?? 0,
      pendingActivities: (pendingActivities ?? []).map((pending): PendingActivityFact => ({
        activityType: pending.activityType?.name ?? 'unknown',
        attempt: pending.attempt ?? 0,
        lastFailure: pending.lastFailure?.message ?? null,
      })),
    },
  };
}

type History = Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>;
type HistoryEvent = NonNullable<History['events']>[number];

/** Names of the values of `WorkflowTaskFailedCause` that matter here; the others keep their number. */
const CAUSES: Record<number, string> = {
  1: 'UNHANDLED_COMMAND',
  13: 'RESET_STICKY_TASK_QUEUE',
  14: 'WORKFLOW_WORKER_UNHANDLED_FAILURE',
  17: 'FORCE_CLOSE_COMMAND',
  18: 'FAILOVER_CLOSE_COMMAND',
  24: 'NON_DETERMINISTIC_ERROR',
  31: 'UNHANDLED_UPDATE',
  36: 'GRPC_MESSAGE_TOO_LARGE',
};

function taskFailure({
  eventId,
  eventTime,
  workflowTaskFailedEventAttributes: failed,
}: HistoryEvent): WorkflowTaskFailure[] {
  if (failed === undefined || failed === null) return [];
  const cause = Number(failed.cause ?? 0);
  return [
    {
      eventId: Number(eventId),
      at: Number(eventTime?.seconds ?? 0) * 1000,
      cause: CAUSES[cause] ?? `CAUSE_${cause}`,
      message: failed.failure?.message ?? '',
    },
  ];
}
