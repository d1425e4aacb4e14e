import type { AiMessage } from '../contracts';
import type { CallKey, LedgerEntry, PlannedToolCall, StepFacts } from '../db';

/** All that a tool call needs to know before it runs. */
export interface PlannedCall {
  facts: StepFacts;
  entry: LedgerEntry;
}

/**
 * Hands the calls of a reply from the commit that planned them to their first attempt in the same worker, which so need
 * not read them back. Each is given once: any later attempt reads the ledger. What has changed in between is noticed
 * where it matters: the start of a side effect and the commit of a result compare with the database.
 */
export interface PlannedCalls {
  put(facts: StepFacts, reply: { runId: string; message: AiMessage; calls: readonly PlannedToolCall[] }): void;
  take(key: CallKey): PlannedCall | null;
}

/** Calls kept; those of runs that went on elsewhere are never taken. */
const MAX_CALLS = 2_000;

export function createPlannedCalls(maxCalls = MAX_CALLS): PlannedCalls {
  const planned = new Map<string, PlannedCall>();
  const nameOf = ({ runId, turn, toolCallId }: CallKey) => `${runId}/${turn}/${toolCallId}`;
  return {
    put(facts, { runId, message, calls }) {
      for (const call of calls) planned.set(nameOf({ runId, ...call }), { facts, entry: entryOf(message, call) });
      for (const oldest of planned.keys()) {
        if (planned.size <= maxCalls) break;
        planned.delete(oldest);
      }
    },
    take(key) {
      const name = nameOf(key);
      const call = planned.get(name) ?? null;
      planned.delete(name);
      return call;
    },
  };
}

/** The row as the commit has written it. */
function entryOf(message: AiMessage, { turn, place, name, toolCallId }: PlannedToolCall): LedgerEntry {
  return {
    state: 'planned',
    attempts: 0,
    turn,
    place,
    name,
    messageId: message.id,
    writePlan: null,
    args: message.tool_calls.find((call) => call.id === toolCallId)?.args ?? null,
    invalid: message.invalid_tool_calls.find((call) => call.id === toolCallId) ?? null,
  };
}
