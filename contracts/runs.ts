/** Runs: statuses, options and the record that the API answers with. */
import type { JsonObject, JsonValue } from './json';

export const RUN_STATUSES = ['pending', 'running', 'success', 'error', 'timeout', 'interrupted'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export const CANCEL_ACTIONS = ['interrupt', 'rollback'] as const;
export type CancelAction = (typeof CANCEL_ACTIONS)[number];

export const MULTITASK_STRATEGIES = ['reject', 'rollback', 'interrupt', 'enqueue'] as const;
export type MultitaskStrategy = (typeof MULTITASK_STRATEGIES)[number];

export const STREAM_MODES = ['values', 'messages-tuple', 'updates', 'debug', 'tasks', 'checkpoints', 'custom'] as const;
export type StreamMode = (typeof STREAM_MODES)[number];

export type DisconnectMode = 'cancel' | 'continue';

/** Why a run that ended in order was cut short. */
export type StopReason =
  | 'loop_capped'
  | 'token_capped'
  | 'safety_capped'
  | 'subagent_limit_capped'
  | 'model_length_capped'
  | 'orphan_recovered';

/** Why a run ended with status `error`. `name` is what a client's exception is called; `message` is sanitised. */
export interface RunError {
  name: string;
  message: string;
  code: string;
}

/** The run as clients read it. */
export interface RunRecord {
  run_id: string;
  thread_id: string;
  assistant_id: string;
  status: RunStatus;
  metadata: JsonObject;
  kwargs: { input: JsonValue; config: JsonValue };
  multitask_strategy: MultitaskStrategy;
  created_at: string;
  updated_at: string;
  total_input_tokens: number;
  total_output_tokens: number;
  total_tokens: number;
  llm_call_count: number;
  lead_agent_tokens: number;
  subagent_tokens: number;
  middleware_tokens: number;
  message_count: number;
  stop_reason: StopReason | null;
  error: RunError | null;
}
