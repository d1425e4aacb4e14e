import { ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client';
import { RECONCILE_SCHEDULE_ID, RECONCILE_WORKFLOW, SEARCH_ATTRIBUTES } from '../contracts';
import type { TemporalAccess } from '../temporal';

const INDEXED_VALUE_TYPE_KEYWORD = 2;
const RECONCILE_EVERY = '15s';
const RECONCILE_TIMEOUT = '5m';
const GRPC_ALREADY_EXISTS = 6;

/** What a namespace needs before the first run: our search attributes and the reconciler's schedule. */
export async function prepareNamespace(
  temporal: TemporalAccess,
  { namespace, taskQueue }: { namespace: string; taskQueue: string },
): Promise<void> {
  await registerSearchAttributes(temporal, namespace);
  await createReconcileSchedule(temporal, taskQueue);
}

async function registerSearchAttributes({ connection }: TemporalAccess, namespace: string): Promise<void> {
  const { operatorService } = connection;
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
  const missing = Object.values(SEARCH_ATTRIBUTES).filter((name) => !(name in (customAttributes ?? {})));
  if (missing.length === 0) return;
  const searchAttributes = Object.fromEntries(missing.map((name) => [name, INDEXED_VALUE_TYPE_KEYWORD]));
  await operatorService.addSearchAttributes({ namespace, searchAttributes }).catch((error: unknown) => {
    // Another worker was quicker.
    if (!hasCode(error, GRPC_ALREADY_EXISTS)) throw error;
  });
}

function hasCode(error: unknown, code: number): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

async function createReconcileSchedule({ client }: TemporalAccess, taskQueue: string): Promise<void> {
  try {
    await client.schedule.create({
      scheduleId: `${RECONCILE_SCHEDULE_ID}-${taskQueue}`,
      spec: { intervals: [{ every: RECONCILE_EVERY }] },
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1m' },
      action: {
        type: 'startWorkflow',
        workflowType: RECONCILE_WORKFLOW,
        // With the queue's name: schedules fire at the same moments, and in one namespace an id is taken only once.
        workflowId: `reconcile/${taskQueue}`,
        taskQueue,
        args: [],
        workflowExecutionTimeout: RECONCILE_TIMEOUT,
      },
    });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  }
}
