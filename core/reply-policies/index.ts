/**
 * What becomes of a model's reply before it is stored: a provider's safety filter, a length limit or the run's token
 * budget may take its tool calls away and end the run. Pure.
 */
import type { AiMessage, JsonObject, NextMove, StopReason } from '../../contracts';
import type { Config } from '../../contracts/schemas/config';
import { contentText } from '../text';
import { detectSafetyStop } from './safety';
import type { SafetyStop } from './safety';
import { isSpent } from './token-budget';
import type { TokenTotals } from './token-budget';

export { budgetWarning } from './token-budget';
export type { TokenTotals } from './token-budget';
export { SAFETY_DETECTORS, safetyDetectorName } from './safety';

export interface ReplyFacts {
  threadId: string;
  finishReason: string | null;
  /** The run's tokens, those of this reply included. */
  spent: TokenTotals;
  config: Pick<Config, 'safety_finish_reason' | 'token_budget'>;
}

export interface JudgedReply {
  message: AiMessage;
  /** Set where the run must end with this reply. */
  stopReason: StopReason | null;
  /** Custom events for readers, before those of the step. */
  notices: JsonObject[];
  /** Entries for the journal: what was done and why, without arguments of calls. */
  journal: Array<{ eventType: string; content: JsonObject }>;
}

const SAFETY_TEXT =
  'The provider stopped this answer because of its content rules. Please rephrase the request or try another model.';
const CUT_TEXT =
  'The answer reached the length limit of the model in the middle of a tool call, so the call did not run.';
const SPENT_TEXT = '[TOKEN BUDGET EXCEEDED] The token budget of this run is used up, so it ends here.';
const LENGTH_REASONS = ['length', 'max_tokens', 'MAX_TOKENS'];

export function judgeReply(message: AiMessage, facts: ReplyFacts): JudgedReply {
  const safety = detectSafetyStop(message, facts.finishReason, facts.config.safety_finish_reason);
  if (safety !== null) return stoppedForSafety(message, facts, safety);
  if (message.tool_calls.length > 0 && isSpent(facts.spent, facts.config.token_budget)) {
    return stopped(withoutCalls(message, SPENT_TEXT), 'token_capped', 'middleware:token_budget', {
      action: 'hard_stop',
      total_tokens: facts.spent.total,
    });
  }
  const wasCut = LENGTH_REASONS.includes(facts.finishReason ?? '');
  if (wasCut && message.invalid_tool_calls.length > 0) {
    return stopped(withoutCalls(message, CUT_TEXT), 'model_length_capped', 'middleware:model_length', {
      action: 'suppress_tool_calls',
      suppressed_tool_call_count: message.tool_calls.length,
    });
  }
  const stopReason = wasCut && message.tool_calls.length === 0 ? 'model_length_capped' : null;
  return { message, stopReason, notices: [], journal: [] };
}

/** How the run goes on after a reply without calls, or with calls that were taken away. */
export function endAfter(stopReason: StopReason | null): NextMove {
  return { kind: 'end', outcome: { kind: 'success', ...(stopReason === null ? {} : { stopReason }) } };
}

function stopped(message: AiMessage, stopReason: StopReason, eventType: string, content: JsonObject): JudgedReply {
  return { message, stopReason, notices: [], journal: [{ eventType, content }] };
}

function withoutCalls(message: AiMessage, note: string): AiMessage {
  const said = contentText(message.content).trimEnd();
  const metadata = { ...message.response_metadata };
  if (metadata['finish_reason'] === 'tool_calls') metadata['finish_reason'] = 'stop';
  return {
    ...message,
    content: said === '' ? note : `${said}\n\n${note}`,
    tool_calls: [],
    invalid_tool_calls: [],
    response_metadata: metadata,
  };
}

function stoppedForSafety(message: AiMessage, { threadId }: ReplyFacts, safety: SafetyStop): JudgedReply {
  const names = message.tool_calls.map((call) => call.name);
  // A text that the filter let through stays as it is.
  if (names.length === 0 && contentText(message.content).trim() !== '') {
    return { message, stopReason: 'safety_capped', notices: [], journal: [] };
  }
  const found = { detector: safety.detector, reason_field: safety.reasonField, reason_value: safety.reasonValue };
  const suppressed = { suppressed_tool_call_count: names.length, suppressed_tool_call_names: names };
  return {
    message: {
      ...message,
      content: contentText(message.content).trim() === '' ? SAFETY_TEXT : message.content,
      tool_calls: [],
      invalid_tool_calls: [],
      additional_kwargs: { ...message.additional_kwargs, safety_termination: { ...found, ...suppressed } },
    },
    stopReason: 'safety_capped',
    notices: [{ type: 'safety_termination', ...found, ...suppressed, thread_id: threadId }],
    journal: [
      {
        eventType: 'middleware:safety_termination',
        content: { action: 'suppress_tool_calls', ...found, ...suppressed },
      },
    ],
  };
}
