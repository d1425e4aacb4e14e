import type {
  CancelAction,
  DisconnectMode,
  JsonObject,
  JsonValue,
  MultitaskStrategy,
  RunError,
  RunOptions,
  RunRecord,
  RunStatus,
  StopReason,
} from '../contracts';

/** Whether a run has its thread, waits for it, or is done with it. */
export type Admission = 'active' | 'queued' | 'ended';

export interface RunRow {
  runId: string;
  threadId: string;
  owner: string;
  assistantId: string;
  status: RunStatus;
  admission: Admission;
  ordinal: number;
  metadata: JsonObject;
  kwargs: { input: JsonValue; config: JsonValue };
  options: RunOptions;
  multitaskStrategy: MultitaskStrategy;
  onDisconnect: DisconnectMode;
  requestHash: string | null;
  cancelAction: CancelAction | null;
  availableAt: string;
  startedAt: string | null;
  endedAt: string | null;
  baseWatermark: number | null;
  endWatermark: number | null;
  stopReason: StopReason | null;
  error: RunError | null;
  modelName: string | null;
  configHash: string | null;
  superseded: boolean;
  totalInputTokens: number;
  totalOutputTokens: number;
  totalTokens: number;
  llmCallCount: number;
  leadAgentTokens: number;
  subagentTokens: number;
  middlewareTokens: number;
  messageCount: number;
  createdAt: string;
  updatedAt: string;
}

export const RUN_COLUMNS = `run_id as "runId", thread_id as "threadId", owner, assistant_id as "assistantId", status,
  admission, ordinal, metadata, kwargs, options, multitask_strategy as "multitaskStrategy",
  on_disconnect as "onDisconnect", request_hash as "requestHash", cancel_action as "cancelAction",
  available_at as "availableAt", started_at as "startedAt", ended_at as "endedAt",
  base_watermark as "baseWatermark", end_watermark as "endWatermark", stop_reason as "stopReason", error,
  model_name as "modelName", config_hash as "configHash", superseded, total_input_tokens as "totalInputTokens",
  total_output_tokens as "totalOutputTokens", total_tokens as "totalTokens", llm_call_count as "llmCallCount",
  lead_agent_tokens as "leadAgentTokens", subagent_tokens as "subagentTokens",
  middleware_tokens as "middlewareTokens", message_count as "messageCount",
  created_at as "createdAt", updated_at as "updatedAt"`;

/** The run as a client reads it. */
export function toRunRecord(row: RunRow): RunRecord {
  return {
    run_id: row.runId,
    thread_id: row.threadId,
    assistant_id: row.assistantId,
    status: row.status,
    metadata: row.metadata,
    kwargs: row.kwargs,
    multitask_strategy: row.multitaskStrategy,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
    total_input_tokens: row.totalInputTokens,
    total_output_tokens: row.totalOutputTokens,
    total_tokens: row.totalTokens,
    llm_call_count: row.llmCallCount,
    lead_agent_tokens: row.leadAgentTokens,
    subagent_tokens: row.subagentTokens,
    middleware_tokens: row.middlewareTokens,
    message_count: row.messageCount,
    stop_reason: row.stopReason,
    error: row.error,
  };
}
