import type { PendingToolCall } from '../contracts';
import type { ActivityDependencies } from './dependencies';

/** How the loop runs a call. A tool that does not exist is answered at once. */
export function pendingCall(
  deps: Pick<ActivityDependencies, 'tools' | 'config'>,
  call: { turn: number; toolCallId: string; name: string },
): PendingToolCall {
  const tool = deps.tools.find(call.name);
  return {
    turn: call.turn,
    toolCallId: call.toolCallId,
    name: tool?.name ?? 'unknown_tool',
    pace: tool?.pace ?? 'quick',
    timeoutMs: tool?.timeoutMs(deps.config) ?? UNKNOWN_TOOL_TIMEOUT_MS,
  };
}

const UNKNOWN_TOOL_TIMEOUT_MS = 10_000;
