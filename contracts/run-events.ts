/**
 * What a subscriber of a run sees, in order. Each event is one row with a dense number per run, and one frame on the
 * wire; `api/sse/` maps kinds to LangGraph's event names. Events that refer to a message carry its id and the log
 * sequence of the version instead of a copy; `state` carries a watermark. Both are materialised when they are sent.
 */
import type { JsonObject } from './json';

export type RunEventKind =
  /** First event of every run. Payload: `{run_id, thread_id}`. */
  | 'run-start'
  /** The thread's state after a step. Payload: `{watermark}`, and `{interrupts: [{value, id}]}` at a breakpoint. */
  | 'state'
  /**
   * Part of a model reply. Payload: `{id, step, content, tool_call_chunks, additional_kwargs}`, on the last part also
   * `{usage_metadata, response_metadata, chunk_position: 'last'}`. Parts with one id are concatenated by the reader.
   */
  | 'text-delta'
  /** A whole message (human, tool, fallback answer). Payload: `{node, step}`; refers to the message. */
  | 'message'
  /** A node's writes. Payload: `{node, writes}`; where it refers to a message, that is `writes.messages[0]`. */
  | 'update'
  /** A client-visible notice. Payload: any object with a string `type`. */
  | 'custom'
  /** A node began (`{id, name, step, triggers}`) or ended (`{id, name, step, error, interrupts}`, refers to its message). */
  | 'task'
  /** A checkpoint was written. Payload: `{watermark}`. */
  | 'checkpoint'
  /** The same as `task` and `checkpoint` for mode `debug`. Payload: `{type: task | task_result | checkpoint, ...}`. */
  | 'debug'
  /** The run failed outside the model. Payload: `{message, name}`. */
  | 'run-error'
  /** Last event of every run. Payload: `{}`. */
  | 'run-end';

export interface RunEventInput {
  kind: RunEventKind;
  payload: JsonObject;
  /** The message this event refers to; its version is the one written in the same commit. */
  messageId?: string;
}

export interface RunEvent {
  runId: string;
  /** 0, 1, 2, … without gaps. */
  number: number;
  /** Milliseconds since the epoch; together with the number it is the SSE id `{at}-{number}`. */
  at: number;
  kind: RunEventKind;
  /** JSON text, sent as it is where the kind needs no materialising. */
  payload: string;
  /** JSON text of the message referred to, if any. */
  message: string | null;
}
