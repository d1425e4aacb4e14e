/**
 * Language models: the seam, the factory, the retry policy and the built-in demo model. Knows nothing of runs, threads
 * or storage.
 */
export type { ModelLog } from './adapter';
export type {
  ChatModel,
  ModelFailureDetail,
  ModelReply,
  ModelRequest,
  RawToolCall,
  ReplyDelta,
  ToolCallChunk,
  ToolDefinition,
} from './chat-model';
export { startDemoModel } from './demo';
export type { DemoModel, DemoModelOptions } from './demo';
export { createChatModelFactory } from './factory';
export type { ChatModelFactory, ChatModelFactoryOptions } from './factory';
export { clientFailure, countsForCircuit, failureDetail } from './failure';
export { PACE_CONFLICT } from './pacing';
export { callWithRetries, maxAttempts, nextDelay } from './retry';
export type { CallWithRetriesOptions, RetryNotice, RetrySettings } from './retry';
