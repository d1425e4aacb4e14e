/**
 * Names and arguments of workflows, signals and activities. The API starts and signals by these names and never imports
 * a workflow; workflows call activities by these types and never import an activity. Everything here ends up in a
 * workflow history: ids, counters and decisions only.
 */
import type { CancelAction, StopReason } from './runs';

export const AGENT_RUN_WORKFLOW = 'agentRun';
export const RECONCILE_WORKFLOW = 'reconcile';
/** Does so many steps that do nothing; for measuring a server. */
export const MEASURE_STEPS_WORKFLOW = 'measureSteps';
export const RECONCILE_SCHEDULE_ID = 'reconcile-runs';

export const CANCEL_RUN_SIGNAL = 'cancelRun';

export const SEARCH_ATTRIBUTES = {
  owner: 'DeerFlowOwner',
  thread: 'DeerFlowThread',
  kind: 'DeerFlowKind',
  status: 'DeerFlowStatus',
} as const;

/** Longest time a worker may take for one workflow task; short, so that a killed worker is noticed quickly. */
export const WORKFLOW_TASK_TIMEOUT_MS = 5_000;

export interface AgentRunInput {
  runId: string;
  /** Carried across continue-as-new. */
  resumeAt?: RunProgress;
}

/** Where the loop stands between two steps. */
export interface RunProgress {
  turn: number;
  stepsTaken: number;
  stepLimit: number;
  /** The request asked to stop when a tool phase is done. */
  stopAfterTools: boolean;
  next: NextMove;
}

export interface PendingToolCall {
  /** The turn whose reply asks for it; together with the id it names the ledger row. */
  turn: number;
  toolCallId: string;
  name: string;
  pace: 'quick' | 'slow';
  /** Longest time the call may take, in milliseconds. */
  timeoutMs: number;
}

/** What the loop does next, as decided by the activity that knows the content. */
export type NextMove =
  { kind: 'model' } | { kind: 'tools'; calls: PendingToolCall[] } | { kind: 'end'; outcome: RunOutcome };

/** How the loop ended. Texts are in Postgres, except for failures that the workflow itself found. */
export type RunOutcome =
  | { kind: 'success'; stopReason?: StopReason }
  /** Stopped before or after a node, as the request asked; the thread waits. */
  | { kind: 'breakpoint'; next: string[] }
  /** The model gave no answer; a fallback message in the log tells why. */
  | { kind: 'model_failed'; code: string }
  | { kind: 'step_limit'; limit: number }
  | { kind: 'cancelled'; action: CancelAction }
  | { kind: 'failed'; code: string; name: string; message: string };

export interface BeginRunResult {
  /** The run has ended already (it was cancelled before it began). */
  closed: boolean;
  stepLimit: number;
  stopAfterTools: boolean;
  next: NextMove;
}

export interface FinishRunInput {
  runId: string;
  outcome: RunOutcome;
}

export interface FinishRunResult {
  status: string;
  hasWebhook: boolean;
}

export interface ModelTurnInput {
  runId: string;
  turn: number;
}

/** The start of a model call: it is over already, or it goes on in the worker that polls the named task queue. */
export type ModelCallStart = { kind: 'over'; next: NextMove } | { kind: 'running'; taskQueue: string };

/** Every activity, as workflows call it. */
export interface RunActivities {
  beginRun(input: { runId: string }): Promise<BeginRunResult>;
  startModelCall(input: ModelTurnInput): Promise<ModelCallStart>;
  callModel(input: ModelTurnInput): Promise<NextMove>;
  runTool(input: { runId: string; turn: number; toolCallId: string }): Promise<void>;
  finishRun(input: FinishRunInput): Promise<FinishRunResult>;
  deliverWebhook(input: { runId: string }): Promise<void>;
  reconcileRuns(): Promise<ReconcileReport>;
}

export interface ReconcileReport {
  started: number;
  closed: number;
  signalled: number;
  pruned: number;
}
