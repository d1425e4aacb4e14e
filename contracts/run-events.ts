/**
 * What a subscriber of a run sees, in order. Each event is one row with a dense number per run, and one frame on the
 * wire; `api/sse/` maps kinds to LangGraph's event names. Events that refer to a message carry its id and the log
 * sequence of the version instead of a copy; `state` carries a watermark. Both are materialised when they are sent.
 */
import type { JsonObject } from './json';

export type RunEventKind =
  /** First event of every run. Payload: `{run_id, thread_id}`. */
  | 'run-start'
  /** The thread's state after a step. Payload: `{watermark}`, and `{interrupts}` where the run stops at a breakpoint. */
  | 'state'
  /** Part of a model reply. Payload: a message chunk without what the reader can add. */
  | 'text-delta'
  /** A whole message (human, tool, fallback answer). Refers to the message. */
  | 'message'
  /** A node's writes. Payload: `{node, writes}`; `writes.messages` is taken from the message referred to. */
  | 'update'
  /** A client-visible notice. Payload: any object with a string `type`. */
  | 'custom'
  /** A task of a step began or ended. Payload as LangGraph's `tasks` mode. */
  | 'task'
  /** A checkpoint was written. Payload: `{watermark, checkpoint_id}`. */
  | 'checkpoint'
  /** The run failed. Payload: `{message, name}`. */
  | 'run-error'
  /** Last event of every run. */
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
