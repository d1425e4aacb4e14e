import { runWorkflowId } from '../../../../contracts';
import type { Evidence } from '../../../faults/checker';
import type { BreakingCase } from '../breaking-case';
import { STOPPED, only } from '../sound-evidence';

function execution(evidence: Evidence, id: string): Evidence['workflows'][number] {
  return only(evidence.workflows, ({ executionId }) => executionId === id);
}

export const workflowCases: BreakingCase[] = [
  {
    rule: 'workflow-and-run-differ',
    title: 'a workflow goes on although its run has ended',
    break: (evidence) => void (execution(evidence, 'e2').status = 'RUNNING'),
    says: /the run has ended, its workflow has not/,
  },
  {
    rule: 'workflow-and-run-differ',
    title: 'a workflow was ended from outside',
    break: (evidence) => void (execution(evidence, 'e3').status = 'TERMINATED'),
    says: /ended as TERMINATED/,
  },
  {
    rule: 'workflow-and-run-differ',
    title: 'a workflow works for a run that was never stored',
    break: (evidence) => {
      evidence.workflows.push({ ...execution(evidence, 'e3'), workflowId: runWorkflowId('nobody'), status: 'RUNNING' });
    },
    says: /run\/nobody is open and its run is not stored/,
  },
  {
    rule: 'failing-task',
    title: 'a replay did not go as recorded',
    break: (evidence) =>
      void execution(evidence, 'e1').taskFailures.push({
        eventId: 12,
        at: 0,
        cause: 'NON_DETERMINISTIC_ERROR',
        message: 'no such command',
      }),
    says: /event 12: NON_DETERMINISTIC_ERROR, no such command/,
  },
  {
    rule: 'failing-task',
    title: 'a task is tried again and again',
    break: (evidence) => void (execution(evidence, 'e4').pendingTaskAttempt = 6),
    says: /tried for the 6th time/,
  },
  {
    rule: 'failing-task',
    title: 'an activity is tried again and again',
    break: (evidence) =>
      void execution(evidence, 'e4').pendingActivities.push({
        activityType: 'callModel',
        attempt: 9,
        lastFailure: 'no such column',
      }),
    says: /callModel is being tried for the 9th time: no such column/,
  },
  {
    rule: 'history-size',
    title: 'a history has too many events',
    break: (evidence) => void (execution(evidence, 'e1').historyEvents = 5_000),
    says: /5000 events/,
  },
  {
    rule: 'history-size',
    title: 'a history has too many bytes',
    break: (evidence) => void (execution(evidence, 'e1').historyBytes = 5 * 1024 * 1024),
    says: /5242880 bytes/,
  },
];

/** Broken together with the promise that every run ends: an open run is the only one whose workflow can be missing. */
export function loseWorkflow(evidence: Evidence): void {
  evidence.workflows = evidence.workflows.filter(({ workflowId }) => workflowId !== runWorkflowId(STOPPED));
  Object.assign(
    only(evidence.runs, ({ runId }) => runId === STOPPED),
    { status: 'running', admission: 'active', endedAt: null },
  );
}
