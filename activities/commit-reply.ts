import { v7 as uuid7 } from 'uuid';
import type { AiMessage, AppError, JsonValue, NextMove, RunEventInput } from '../contracts';
import { stopsBetween } from '../core/agent-loop/breakpoints';
import { endAfter, judgeReply } from '../core/reply-policies';
import type { JudgedReply, TokenTotals } from '../core/reply-policies';
import { selectEvents, stepEvents } from '../core/stream-events';
import { storableText } from '../core/text';
import { localTitle } from '../core/title';
import { withAttribution } from '../core/token-attribution';
import type { JournalInput, PlannedToolCall, StepCommit } from '../db';
import type { ModelReply } from '../models';
import { clientFailure } from '../models';
import type { ActivityDependencies } from './dependencies';
import type { ModelTurn } from './model-turn';
import { MODEL_NODE } from './model-turn';
import { pendingCall } from './pending-call';
import { throughOutage } from './through-outage';

/** Commits a reply with everything that follows from it, and says what the loop does next. */
export async function commitReply(
  deps: ActivityDependencies,
  current: ModelTurn,
  reply: AiMessage,
  { finishReason }: ModelReply,
): Promise<NextMove> {
  const spent = addUsage(current.facts.spent, reply);
  const { threadId } = current.facts;
  const { config } = current.setup;
  const judged = judgeReply(reply, { threadId, finishReason, spent, config });
  const message = config.token_usage.enabled ? withAttribution(judged.message) : judged.message;
  return commitMessage(deps, current, message, {
    isReply: true,
    added: judged.added,
    next: decideNext(current, judged),
    before: judged.notices.map((payload) => ({ kind: 'custom', payload })),
    journal: judged.journal.map((entry) => ({ ...entry, category: 'middleware' })),
  });
}

function addUsage({ input, output, total }: TokenTotals, { usage_metadata: usage }: AiMessage): TokenTotals {
  return {
    input: input + (usage?.input_tokens ?? 0),
    output: output + (usage?.output_tokens ?? 0),
    total: total + (usage?.total_tokens ?? 0),
  };
}

function decideNext(current: ModelTurn, { message, stopReason }: JudgedReply): NextMove {
  if (message.tool_calls.length === 0) return endAfter(stopReason);
  if (stopsBetween(current.facts.options, 'model', 'tools')) {
    return { kind: 'end', outcome: { kind: 'breakpoint', next: ['tools'] } };
  }
  const calls = message.tool_calls.map((call) =>
    pendingCall(current.setup, { turn: current.turn, toolCallId: call.id, name: call.name }),
  );
  return { kind: 'tools', calls };
}

interface CommitOptions {
  /** False for a message that stands for a reply which never came. */
  isReply: boolean;
  next: NextMove;
  /** What readers of the reply's parts have not seen of it. */
  added?: string;
  /** Events that come before those of the step. */
  before?: RunEventInput[];
  journal?: JournalInput[];
}

async function commitMessage(
  deps: ActivityDependencies,
  current: ModelTurn,
  message: AiMessage,
  { isReply, next, added = '', before = [], journal = [] }: CommitOptions,
): Promise<NextMove> {
  const { facts, runId, turn, step } = current;
  const usage = message.usage_metadata;
  const title = needsLocalTitle(current) ? newTitle(current) : null;
  const events = [
    ...before,
    isReply ? replyEnd(message, step, added) : wholeMessage(message, step),
    ...(title === null ? [] : [titleUpdate(title)]),
    ...stepEvents({ node: MODEL_NODE, step, messageId: message.id }),
  ];
  const commit: StepCommit = {
    threadId: facts.threadId,
    runId,
    messages: [message],
    channels: title === null ? undefined : { title },
    toolCalls: next.kind === 'tools' ? plannedCalls(message, turn) : [],
    turn: { turn, messageId: message.id, outcome: next as unknown as JsonValue },
    usage: {
      calls: isReply ? 1 : 0,
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
  const after = {
    ...facts,
    stepsBefore: step,
    logSeq: result.seq,
    title: title ?? facts.title,
    spent: addUsage(facts.spent, message),
  };
  deps.plannedCalls.put(after, { runId, message, calls: commit.toolCalls ?? [] });
  return next;
}

/** A title that a model writes comes when the exchange is over. */
function needsLocalTitle({ facts, setup: { config } }: ModelTurn): boolean {
  return facts.title === null && config.title.enabled && config.title.model_name === null;
}

function newTitle(current: ModelTurn): string {
  return localTitle(current.messages, current.setup.config.title.max_chars);
}

function titleUpdate(title: string): RunEventInput {
  return { kind: 'update', payload: { node: 'TitleMiddleware.after_model', writes: { title } } };
}

/** Shown where nothing was streamed. */
function wholeMessage(message: AiMessage, step: number): RunEventInput {
  return { kind: 'message', payload: { node: MODEL_NODE, step }, messageId: message.id };
}

/** The streamed reply's last part. */
function replyEnd(message: AiMessage, step: number, content: string): RunEventInput {
  return {
    kind: 'text-delta',
    payload: {
      id: message.id,
      step,
      content,
      tool_call_chunks: [],
      additional_kwargs: {},
      usage_metadata: message.usage_metadata as unknown as JsonValue,
      response_metadata: message.response_metadata,
      chunk_position: 'last',
    },
  };
}

function waitingAfter(next: NextMove): string[] {
  if (next.kind !== 'end') return [next.kind];
  return next.outcome.kind === 'breakpoint' ? next.outcome.next : [];
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
  const { type, reason } = clientFailure(error);
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
      error_type: type,
      error_reason: reason,
      error_detail: text,
    },
  };
  const next: NextMove = { kind: 'end', outcome: { kind: 'model_failed', code: error.code } };
  const journal: JournalInput[] = [{ eventType: 'llm.error', category: 'trace', content: text }];
  return commitMessage(deps, current, message, { isReply: false, next, journal });
}
