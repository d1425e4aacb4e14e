import { v7 as uuid7 } from 'uuid';
import type { AiMessage, AppError, JsonValue, NextMove, RunEventInput, StopReason } from '../contracts';
import { stopsBetween } from '../core/agent-loop/breakpoints';
import { exceededBudget, judgeReply } from '../core/policies';
import { selectEvents, stepEvents } from '../core/stream-events';
import { storableText } from '../core/text';
import { localTitle } from '../core/title';
import type { JournalInput, PlannedToolCall, StepCommit, StepFacts } from '../db';
import type { ModelReply } from '../models';
import { detectSafetyTermination, failureDetail } from '../models';
import type { ActivityDependencies } from './dependencies';
import type { ModelTurn } from './model-turn';
import { commitTitle, titleUpdate } from './commit-title';
import { MODEL_NODE, usedWith, waitingAfter } from './model-turn';
import { pendingCall } from './pending-call';
import { throughOutage } from './through-outage';

/** Commits a reply with everything that follows from it, and says what the loop does next. */
export async function commitReply(
  deps: ActivityDependencies,
  current: ModelTurn,
  accepted: AiMessage,
  reply: ModelReply,
): Promise<NextMove> {
  const { config } = deps;
  const { facts } = current;
  const judged = judgeReply(accepted, {
    finishReason: reply.finishReason,
    threadId: facts.threadId,
    safety: detectSafetyTermination(reply, config.safety_finish_reason),
    exceeded: exceededBudget(config.token_budget, usedWith(facts.used, accepted.usage_metadata)),
  });
  const { message, stopReason, added, notices, journal } = judged;
  const next = decideNext(deps, current, message, stopReason);
  const { after, calls } = await commitMessage(deps, current, message, {
    reply,
    next,
    added,
    before: notices,
    journal,
  });
  const titled =
    after.title === null && config.title.enabled
      ? await commitTitle(deps, current, { answer: message, next, after })
      : after;
  deps.plannedCalls.put(titled, { runId: current.runId, message, calls });
  return next;
}

function decideNext(
  deps: ActivityDependencies,
  current: ModelTurn,
  message: AiMessage,
  stopReason: StopReason | null,
): NextMove {
  if (message.tool_calls.length === 0) {
    return { kind: 'end', outcome: { kind: 'success', ...(stopReason === null ? {} : { stopReason }) } };
  }
  if (stopsBetween(current.facts.options, 'model', 'tools')) {
    return { kind: 'end', outcome: { kind: 'breakpoint', next: ['tools'] } };
  }
  const calls = message.tool_calls.map((call) =>
    pendingCall(deps, { turn: current.turn, toolCallId: call.id, name: call.name }),
  );
  return { kind: 'tools', calls };
}

interface CommitOptions {
  reply: ModelReply | null;
  next: NextMove;
  /** What was put behind the model's own words, which readers of its parts have not seen. */
  added?: string;
  /** Events that come before those of the step. */
  before?: RunEventInput[];
  journal?: JournalInput[];
}

interface Committed {
  /** What the next step finds. */
  after: StepFacts;
  calls: PlannedToolCall[];
}

async function commitMessage(
  deps: ActivityDependencies,
  current: ModelTurn,
  message: AiMessage,
  { reply, next, added = '', before = [], journal = [] }: CommitOptions,
): Promise<Committed> {
  const { facts, runId, turn, step } = current;
  const usage = message.usage_metadata;
  const title = facts.title === null ? titleAtOnce(deps, current, reply) : null;
  const events = [
    ...before,
    replyEnd(message, step, reply, added),
    ...(title === null ? [] : [titleUpdate(title)]),
    ...stepEvents({ node: MODEL_NODE, step, messageId: message.id }),
  ];
  const calls = next.kind === 'tools' ? plannedCalls(message, turn) : [];
  const commit: StepCommit = {
    threadId: facts.threadId,
    runId,
    messages: [message],
    channels: title === null ? undefined : { title },
    toolCalls: calls,
    turn: { turn, messageId: message.id, outcome: next as unknown as JsonValue },
    usage: {
      calls: reply === null ? 0 : 1,
      input: usage?.input_tokens ?? 0,
      output: usage?.output_tokens ?? 0,
      total: usage?.total_tokens ?? 0,
    },
    journal: [...journal, aiResponse(current, message)],
    checkpoint: { step, source: 'loop', node: MODEL_NODE, next: waitingAfter(next) },
    events: selectEvents(facts.options.streamModes, events),
  };
  const result = await throughOutage(current.signal, () => deps.stores.log.commit(commit));
  deps.conversations.committed(facts, result, message);
  const after: StepFacts = {
    ...facts,
    stepsBefore: step,
    logSeq: result.seq,
    title: title ?? facts.title,
    used: usedWith(facts.used, usage),
  };
  return { after, calls };
}

/** The title where no model is asked for it. */
function titleAtOnce({ config }: ActivityDependencies, current: ModelTurn, reply: ModelReply | null): string | null {
  const { enabled, model_name: modelName, max_chars: maxChars } = config.title;
  const asksModel = modelName !== null && reply !== null;
  return enabled && !asksModel ? localTitle(current.messages, maxChars) : null;
}

/** The streamed reply's last part, or the whole message where nothing was streamed. */
function replyEnd(message: AiMessage, step: number, reply: ModelReply | null, added: string): RunEventInput {
  if (reply === null) return { kind: 'message', payload: { node: MODEL_NODE, step }, messageId: message.id };
  return {
    kind: 'text-delta',
    payload: {
      id: message.id,
      step,
      content: added,
      tool_call_chunks: [],
      additional_kwargs: {},
      usage_metadata: message.usage_metadata as unknown as JsonValue,
      response_metadata: message.response_metadata,
      chunk_position: 'last',
    },
  };
}

function plannedCalls(message: AiMessage, turn: number): PlannedToolCall[] {
  return message.tool_calls.map((call, place) => ({
    toolCallId: call.id,
    turn,
    place,
    name: call.name,
    messageId: message.id,
  }));
}

function aiResponse(current: ModelTurn, message: AiMessage): JournalInput {
  return {
    eventType: 'llm.ai.response',
    category: 'message',
    messageId: message.id,
    metadata: {
      caller: 'lead_agent',
      usage: message.usage_metadata as unknown as JsonValue,
      latency_ms: Date.now() - current.startedAt,
      llm_call_index: current.turn,
    },
  };
}

/** The model gave no answer after all attempts: the user is told in a message that nobody can take for an answer. */
export async function commitFailure(
  deps: ActivityDependencies,
  current: ModelTurn,
  error: AppError,
): Promise<NextMove> {
  const detail = failureDetail(error);
  const text = storableText(error.message);
  const message: AiMessage = {
    type: 'ai',
    id: `lc_run--${uuid7()}`,
    name: null,
    content: `The model could not answer: ${text}`,
    tool_calls: [],
    invalid_tool_calls: [],
    usage_metadata: null,
    response_metadata: {},
    additional_kwargs: {
      deerflow_error_fallback: true,
      error_type: error.code,
      error_reason: detail?.reason ?? 'transient',
      error_detail: text,
    },
  };
  const next: NextMove = { kind: 'end', outcome: { kind: 'model_failed', code: error.code } };
  const journal: JournalInput[] = [{ eventType: 'llm.error', category: 'trace', content: text }];
  await commitMessage(deps, current, message, { reply: null, next, journal });
  return next;
}
