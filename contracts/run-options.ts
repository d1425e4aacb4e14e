/** What a run needs of the request that made it. Stored with the run; secrets are never part of it. */
import type { JsonObject, JsonValue } from './json';
import type { Message } from './messages';
import type { StreamMode } from './runs';

/** Context keys that a request may set for a run. */
export interface RunContext {
  model_name?: string;
  mode?: string;
  thinking_enabled?: boolean;
  reasoning_effort?: string;
  is_plan_mode?: boolean;
  subagent_enabled?: boolean;
  max_concurrent_subagents?: number;
  max_total_subagents?: number;
  agent_name?: string;
  is_bootstrap?: boolean;
}

export interface RunOptions {
  /** Whether the request had an `input` at all; `input: null` without `resume` goes on from a waiting step, if any. */
  hasInput: boolean;
  /** `input.messages`, coerced by the API (`core/input-messages.ts`), with ids. */
  messages: Message[];
  /** The other keys of `input`: thread state to set before the first step (`title`, ...). */
  channels: JsonObject;
  /** Present where the request carried a `command.resume` that is not null. */
  resume?: { value: JsonValue };
  context: RunContext;
  streamModes: StreamMode[];
  interruptBefore: string[] | '*';
  interruptAfter: string[] | '*';
  /** Start from this checkpoint of the same thread instead of the newest. */
  checkpointId?: string;
  recursionLimit?: number;
  webhook?: string;
}
