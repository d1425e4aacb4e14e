import { runWorkflowId } from '../../../../contracts';
import type { Evidence, Finding, Rule, WorkflowFact } from '../evidence';
import { groupBy } from '../grouping';

const RUN_PREFIX = runWorkflowId('');
const RUNNING = 'RUNNING';

/** Ends of a workflow that are in order: it returned, or it goes on in a next execution. */
const IN_ORDER: ReadonlySet<string> = new Set(['COMPLETED', 'CONTINUED_AS_NEW', RUNNING]);

/** Failures of a workflow task that are no fault of its code: it saw something new, or its worker went away. */
const HARMLESS: ReadonlySet<string> = new Set([
  'UNHANDLED_COMMAND',
  'UNHANDLED_UPDATE',
  'RESET_STICKY_TASK_QUEUE',
  'FORCE_CLOSE_COMMAND',
  'FAILOVER_CLOSE_COMMAND',
]);

function byWorkflow({ workflows }: Evidence): Map<string, WorkflowFact[]> {
  return groupBy(workflows, ({ workflowId }) => workflowId);
}

export const workflowsEndWithRuns: Rule = {
  name: 'workflow-and-run-differ',
  promise: 'A run and its workflow end together, and every open run has a workflow.',
  check(evidence) {
    const executions = byWorkflow(evidence);
    const runs = new Map(evidence.runs.map((run) => [run.runId, run]));
    const ofRuns = evidence.runs.flatMap(({ runId, admission, status }): Finding[] => {
      const ofRun = executions.get(runWorkflowId(runId)) ?? [];
      const open = ofRun.some((execution) => execution.status === RUNNING);
      if (admission === 'ended' && open)
        return [{ subject: runId, message: 'the run has ended, its workflow has not' }];
      if (admission !== 'active' || open) return [];
      const what = ofRun.length === 0 ? 'was never started' : `is ${ofRun.map((one) => one.status).join(', ')}`;
      return [{ subject: runId, message: `the run is ${status}, its workflow ${what}` }];
    });
    const astray = [...executions].flatMap(([workflowId, ofOne]): Finding[] => {
      const subject = workflowId.startsWith(RUN_PREFIX) ? workflowId.slice(RUN_PREFIX.length) : null;
      const broken = ofOne.find(({ status }) => !IN_ORDER.has(status));
      if (broken !== undefined) return [{ subject, message: `workflow ${workflowId} ended as ${broken.status}` }];
      if (subject === null || runs.has(subject) || ofOne.every(({ status }) => status !== RUNNING)) return [];
      return [{ subject, message: `workflow ${workflowId} is open and its run is not stored` }];
    });
    return [...ofRuns, ...astray];
  },
};

export const failingTasks: Rule = {
  name: 'failing-task',
  promise: 'No workflow fails its tasks, and none is stuck in a task or an activity that is tried again and again.',
  check({ workflows, limits }) {
    return workflows.flatMap((workflow) => {
      const found = (message: string): Finding => ({ subject: workflow.workflowId, message });
      const failures = workflow.taskFailures.filter(({ cause }) => !HARMLESS.has(cause));
      const [first] = failures;
      const stuck = workflow.pendingActivities.filter(({ attempt }) => attempt > limits.attempts);
      return [
        ...(first === undefined
          ? []
          : [found(`${failures.length} failed tasks; event ${first.eventId}: ${first.cause}, ${first.message}`)]),
        ...(workflow.pendingTaskAttempt > limits.attempts
          ? [found(`its task is being tried for the ${workflow.pendingTaskAttempt}th time`)]
          : []),
        ...stuck.map(({ activityType, attempt, lastFailure }) =>
          found(`${activityType} is being tried for the ${attempt}th time: ${lastFailure ?? 'no failure told'}`),
        ),
      ];
    });
  },
};

export const historySizes: Rule = {
  name: 'history-size',
  promise: 'No workflow history comes near the limits of the server.',
  check({ workflows, limits }) {
    return workflows
      .filter(
        ({ historyEvents, historyBytes }) => historyEvents > limits.historyEvents || historyBytes > limits.historyBytes,
      )
      .map(({ workflowId, historyEvents, historyBytes }) => ({
        subject: workflowId,
        message: `its history has ${historyEvents} events and ${historyBytes} bytes`,
      }));
  },
};
