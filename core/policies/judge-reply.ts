import type { AiMessage, JsonObject, RunEventInput, StopReason } from '../../contracts';
import { contentText } from '../text';

const SAFETY_TEXT =
  'The provider stopped this answer because of its content rules. Please rephrase the request or try another model.';
const LENGTH_TEXT =
  'This answer was cut off because it reached the longest output of the model. The tool calls in it were incomplete and have not been run.';

/** Ways in which providers say that a reply reached its longest length. */
const LENGTH_REASONS: ReadonlySet<string> = new Set(['length', 'max_tokens', 'MAX_TOKENS']);

/** Ways in which they say that tools are to be run. */
const TOOL_REASONS: ReadonlySet<string> = new Set(['tool_calls', 'tool_use', 'function_call']);

/** A row for the run's journal. */
export interface PolicyRecord {
  eventType: string;
  category: string;
  content: JsonObject;
}

export interface ReplyFacts {
  finishReason: string | null;
  threadId: string;
  /** The provider's filter stopped the reply. */
  safety: { detector: string; reasonField: string; reasonValue: string } | null;
  /** What to say where the run has used up its tokens; null while it has not. */
  exceeded: string | null;
}

export interface JudgedReply {
  message: AiMessage;
  stopReason: StopReason | null;
  /** What was put behind the model's own words. */
  added: string;
  /** Notices to those who watch the run. */
  notices: RunEventInput[];
  journal: PolicyRecord[];
}

/** What becomes of a reply under the run's limits and guards. One whose tool calls are taken away ends the run. */
export function judgeReply(message: AiMessage, facts: ReplyFacts): JudgedReply {
  if (facts.safety !== null) return stopForSafety(message, facts, facts.safety);
  if (LENGTH_REASONS.has(facts.finishReason ?? '')) {
    const judged = message.tool_calls.length > 0 ? withoutTools(message, LENGTH_TEXT) : untouched(message);
    return { ...judged, stopReason: 'model_length_capped' };
  }
  if (facts.exceeded !== null && message.tool_calls.length > 0) {
    return { ...withoutTools(endedInOrder(message), facts.exceeded), stopReason: 'token_capped' };
  }
  return untouched(message);
}

function untouched(message: AiMessage): JudgedReply {
  return { message, stopReason: null, added: '', notices: [], journal: [] };
}

/** Appends to what the model has said; what readers have seen of it stays as it is. */
function withoutTools(message: AiMessage, text: string): JudgedReply {
  const added = contentText(message.content).trim() === '' ? text : `\n\n${text}`;
  const content =
    typeof message.content === 'string'
      ? `${message.content}${added}`
      : [...message.content, { type: 'text', text: added }];
  return { ...untouched({ ...message, content, tool_calls: [], invalid_tool_calls: [] }), added };
}

/** Clients wait for tools while the finish reason speaks of them. */
function endedInOrder(message: AiMessage): AiMessage {
  const metadata = { ...message.response_metadata };
  for (const field of ['finish_reason', 'stop_reason']) {
    const value = metadata[field];
    if (typeof value === 'string' && TOOL_REASONS.has(value)) metadata[field] = 'stop';
  }
  return { ...message, response_metadata: metadata };
}

function stopForSafety(
  message: AiMessage,
  { threadId }: ReplyFacts,
  { detector, reasonField, reasonValue }: NonNullable<ReplyFacts['safety']>,
): JudgedReply {
  const names = message.tool_calls.map((call) => call.name);
  // What the filter let through stays as the model wrote it.
  const isText = names.length === 0 && contentText(message.content).trim() !== '';
  const judged = isText ? untouched(message) : withoutTools(message, SAFETY_TEXT);
  const found: JsonObject = {
    detector,
    reason_field: reasonField,
    reason_value: reasonValue,
    suppressed_tool_call_count: names.length,
    suppressed_tool_call_names: names,
  };
  return {
    ...judged,
    message: {
      ...judged.message,
      additional_kwargs: { ...message.additional_kwargs, safety_termination: found },
    },
    stopReason: 'safety_capped',
    notices: [{ kind: 'custom', payload: { type: 'safety_termination', ...found, thread_id: threadId } }],
    // Without arguments: they are what the filter objected to.
    journal: [
      {
        eventType: 'middleware:safety_termination',
        category: 'middleware',
        content: {
          name: 'SafetyFinishReasonMiddleware',
          hook: 'after_model',
          action: 'suppress_tool_calls',
          changes: found,
        },
      },
    ],
  };
}
