import type { PendingToolCall } from '../contracts';
import type { RunSetup } from './run-setups';

/** How the loop runs a call. A tool that does not exist is answered at once. */
export function pendingCall(
  { config, tools }: RunSetup,
  call: { turn: number; toolCallId: string; name: string },
): PendingToolCall {
  const tool = tools.find(call.name);
  return {
    turn: call.turn,
    toolCallId: call.toolCallId,
    name: tool?.name ?? 'unknown_tool',
    pace: tool?.pace ?? 'quick',
    timeoutMs: tool?.timeoutMs(config) ?? UNKNOWN_TOOL_TIMEOUT_MS,
  };
}

const UNKNOWN_TOOL_TIMEOUT_MS = 10_000;
