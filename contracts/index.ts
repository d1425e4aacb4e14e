/**
 * What crosses a boundary: ids, messages, runs, events, workflow contracts, the error catalogue. Types and constants
 * only, no I/O, so that workflows, activities, the API and tests can all import it. Zod schemas live in `schemas/`,
 * which workflows never import.
 */
export { LOCAL_OWNER, OWNER_ID_PATTERN, THREAD_ID_PATTERN, runWorkflowId } from './ids';
export type { JsonObject, JsonValue } from './json';
export type {
  AiMessage,
  HumanMessage,
  InvalidToolCall,
  Message,
  MessageContent,
  SystemMessage,
  TextBlock,
  ToolCall,
  ToolMessage,
  UsageMetadata,
} from './messages';
export { RUN_STATUSES, STREAM_MODES } from './runs';
export type {
  CancelAction,
  DisconnectMode,
  MultitaskStrategy,
  RunError,
  RunRecord,
  RunStatus,
  StopReason,
  StreamMode,
} from './runs';
export type { RunEvent, RunEventInput, RunEventKind } from './run-events';
export { AppError, ERROR_CATALOGUE, isAppError } from './errors';
export type { ErrorCode } from './errors';
export type { RunContext, RunOptions } from './run-options';
export {
  AGENT_RUN_WORKFLOW,
  CANCEL_RUN_SIGNAL,
  RECONCILE_SCHEDULE_ID,
  MEASURE_STEPS_WORKFLOW,
  RECONCILE_WORKFLOW,
  SEARCH_ATTRIBUTES,
  WORKFLOW_TASK_TIMEOUT_MS,
} from './workflows';
export type {
  AgentRunInput,
  BeginRunResult,
  FinishRunInput,
  FinishRunResult,
  ModelCallStart,
  ModelTurnInput,
  NextMove,
  PendingToolCall,
  ReconcileReport,
  RunActivities,
  RunOutcome,
  RunProgress,
} from './workflows';
