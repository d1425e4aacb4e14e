import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  defineSearchAttributeKey,
  TypedSearchAttributes,
} from '@temporalio/common';
import type { Client } from '@temporalio/client';
import type { AgentRunInput, CancelAction } from '../contracts';
import {
  AGENT_RUN_WORKFLOW,
  CANCEL_RUN_SIGNAL,
  SEARCH_ATTRIBUTES,
  WORKFLOW_TASK_TIMEOUT_MS,
  runWorkflowId,
} from '../contracts';
import type { TemporalAccess } from './connection';
import { withCallTimeout } from './connection';

/** What the start of a run's workflow needs to know of the run. */
export interface RunToStart {
  runId: string;
  threadId: string;
  owner: string;
  /** ISO-8601; in the future for a run with `after_seconds`. */
  availableAt: string;
}

export type WorkflowState = 'running' | 'closed' | 'unknown';

/** Starts, signals and looks at run workflows, by name. */
export interface RunGateway {
  /** Idempotent: the workflow id is derived from the run id. */
  start(run: RunToStart): Promise<void>;
  /**
   * Resolves once the server has recorded the signal; a workflow that has ended is no error. One that waits for its time
   * begins at once, so that it can end, and one whose start was lost begins with the signal.
   */
  cancel(run: RunToStart, action: CancelAction): Promise<void>;
  state(runId: string): Promise<WorkflowState>;
}

const kind = defineSearchAttributeKey(SEARCH_ATTRIBUTES.kind, 'KEYWORD');
const owner = defineSearchAttributeKey(SEARCH_ATTRIBUTES.owner, 'KEYWORD');
const thread = defineSearchAttributeKey(SEARCH_ATTRIBUTES.thread, 'KEYWORD');
const status = defineSearchAttributeKey(SEARCH_ATTRIBUTES.status, 'KEYWORD');

export function createRunGateway(client: Client, taskQueue: string): RunGateway {
  const optionsOf = (run: RunToStart) => {
    const input: AgentRunInput = { runId: run.runId };
    return {
      workflowId: runWorkflowId(run.runId),
      taskQueue,
      args: [input],
      workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT_MS,
      workflowIdReusePolicy: 'REJECT_DUPLICATE' as const,
      staticSummary: `agent run on thread ${run.threadId}`,
      typedSearchAttributes: new TypedSearchAttributes([
        { key: kind, value: 'run' },
        { key: owner, value: run.owner },
        { key: thread, value: run.threadId },
        { key: status, value: 'running' },
      ]),
    };
  };
  return {
    async start(run) {
      const delay = Date.parse(run.availableAt) - Date.now();
      try {
        await client.workflow.start(AGENT_RUN_WORKFLOW, {
          ...optionsOf(run),
          ...(delay > 0 ? { startDelay: delay } : {}),
        });
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }
    },
    async cancel(run, action) {
      try {
        // A plain signal would leave a delayed workflow asleep.
        await client.workflow.signalWithStart(AGENT_RUN_WORKFLOW, {
          ...optionsOf(run),
          signal: CANCEL_RUN_SIGNAL,
          signalArgs: [action],
        });
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }
    },
    async state(runId) {
      try {
        const description = await client.workflow.getHandle(runWorkflowId(runId)).describe();
        return description.status.name === 'RUNNING' ? 'running' : 'closed';
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return 'unknown';
        throw error;
      }
    },
  };
}

/** Without a bound, calls wait for an absent server for ever. */
export function boundedGateway(access: TemporalAccess, gateway: RunGateway): RunGateway {
  return {
    start: (run) => withCallTimeout(access, () => gateway.start(run)),
    cancel: (run, action) => withCallTimeout(access, () => gateway.cancel(run, action)),
    state: (runId) => withCallTimeout(access, () => gateway.state(runId)),
  };
}
