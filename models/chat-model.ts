/** The one seam to language models: everything the loop needs of a provider, and nothing else. */
import type { JsonObject, Message, UsageMetadata } from '../contracts';

export interface ToolDefinition {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  parameters: JsonObject;
}

export interface ToolCallChunk {
  index: number;
  id: string | null;
  name: string | null;
  args: string | null;
}

/** A part of a reply as it arrives. Parts of one reply are concatenated by the reader. */
export interface ReplyDelta {
  content: string;
  toolCallChunks: ToolCallChunk[];
  additionalKwargs: JsonObject;
}

/** A tool call as the provider sent it: nothing is checked yet. */
export interface RawToolCall {
  id: string | null;
  name: string | null;
  args: string;
}

export interface ModelReply {
  content: string;
  toolCalls: RawToolCall[];
  usage: UsageMetadata | null;
  finishReason: string | null;
  additionalKwargs: JsonObject;
  responseMetadata: JsonObject;
}

export interface ModelRequest {
  system: string;
  messages: Message[];
  tools: ToolDefinition[];
  /** Name of the tool that must be called; without it the model decides. */
  toolChoice?: string;
  signal: AbortSignal;
  /** Called for each part, in order; awaited, so a slow reader slows the model. */
  onDelta?: (delta: ReplyDelta) => void | Promise<void>;
}

export interface ChatModel {
  readonly name: string;
  readonly provider: string;
  /**
   * One attempt, no retries. Throws `AppError` with a `model_*` code; `options.detail` is `ModelFailureDetail`.
   * An answer with neither text nor tool calls is `model_empty_reply`, never a reply.
   */
  reply(request: ModelRequest): Promise<ModelReply>;
}

export interface ModelFailureDetail {
  httpStatus?: number;
  /** A passing failure because others ask much of the provider, too. */
  busy?: boolean;
  /** What the provider asks us to wait, in milliseconds. */
  retryAfterMs?: number;
  reason:
    | 'transient'
    | 'burst'
    | 'stalled'
    | 'quota'
    | 'auth'
    | 'rejected'
    | 'empty'
    /** The request is longer than the model can read. */
    | 'context_length'
    /** Our own bounds, before anything was sent. */
    | 'admission'
    | 'circuit_open';
}
