import { v7 as uuid7 } from 'uuid';
import type { AiMessage, HumanMessage, RunEventInput } from '../contracts';
import { acceptReply } from '../core/messages/accept-reply';
import { RECOVERED_MARK, afterToolResult, budgetHint, recoveryHint, wasRecovered } from '../core/policies';
import { conversationSystemText, requestMessages } from '../core/prompt/request-messages';
import { systemPrompt } from '../core/prompt/system-prompt';
import { selectEvents, stepStartEvents, wantsKind } from '../core/stream-events';
import type { ModelReply, ModelRequest } from '../models';
import { callWithRetries, failureDetail } from '../models';
import type { DeltaWriter } from './delta-writer';
import { createDeltaWriter } from './delta-writer';
import type { ActivityDependencies } from './dependencies';
import type { ModelTurn } from './model-turn';
import { MODEL_NODE } from './model-turn';

/** A reply as it is stored, and as the provider sent it. */
interface Answer {
  message: AiMessage;
  reply: ModelReply;
}

/** Asks until there is a reply or no attempt is left, and streams what comes. Commits nothing but stream events. */
export async function askModel(deps: ActivityDependencies, current: ModelTurn): Promise<Answer> {
  await tellStart(deps, current);
  const { messages, signal } = current;
  const mayBeSilent = afterToolResult(messages) && !wasRecovered(messages);
  if (!mayBeSilent) return ask(deps, current, { hints: [], silenceIsFinal: false });
  try {
    return await ask(deps, current, { hints: [], silenceIsFinal: true });
  } catch (error) {
    if (signal.aborted || failureDetail(error)?.reason !== 'empty') throw error;
    const { message, reply } = await ask(deps, current, { hints: [recoveryHint()], silenceIsFinal: true });
    return {
      reply,
      message: { ...message, additional_kwargs: { ...message.additional_kwargs, [RECOVERED_MARK]: true } },
    };
  }
}

interface AskOptions {
  /** What the model is told beside the conversation. */
  hints: HumanMessage[];
  /** Whether an empty reply is given back at once, instead of being asked for again as it was. */
  silenceIsFinal: boolean;
}

async function ask(
  deps: ActivityDependencies,
  current: ModelTurn,
  { hints, silenceIsFinal }: AskOptions,
): Promise<Answer> {
  const { facts, runId, turn, step, signal } = current;
  const modes = facts.options.streamModes;
  const append = (events: RunEventInput[]): Promise<unknown> => deps.stores.events.append(runId, events, turn);
  const abort = new AbortController();
  const combined = AbortSignal.any([signal, abort.signal]);
  const streams = wantsKind(modes, 'text-delta');
  let messageId = '';
  let writer: DeltaWriter | null = null;
  const request = (): ModelRequest => {
    // Each attempt is a message of its own: what a failed one streamed is superseded by the next state.
    messageId = `lc_run--${uuid7()}`;
    writer = streams ? createDeltaWriter({ append, messageId, step, onFailure: (error) => abort.abort(error) }) : null;
    return { ...baseRequest(deps, current, hints), signal: combined, onDelta: (delta) => writer?.push(delta) };
  };
  const drain = async (): Promise<void> => writer?.drain();

  const reply = await callWithRetries({
    model: deps.models.resolve(facts.modelName),
    request,
    settings: deps.config.llm_call,
    onRetry: async (notice, error) => {
      await drain();
      if (silenceIsFinal && failureDetail(error)?.reason === 'empty') throw error;
      if (wantsKind(modes, 'custom')) await append([{ kind: 'custom', payload: { ...notice } }]);
    },
  });
  await drain();
  return { message: acceptReply(reply, messageId), reply };
}

/** Readers learn that a step begins, and that an attempt which died in mid-reply is being repeated. */
async function tellStart(deps: ActivityDependencies, { runId, turn, step, facts }: ModelTurn): Promise<void> {
  const events = stepStartEvents(MODEL_NODE, step);
  // The turn has no reply, yet its text is the newest event.
  if (facts.lastEventKind === 'text-delta') {
    events.unshift({
      kind: 'custom',
      payload: {
        type: 'llm_retry',
        attempt: 1,
        max_attempts: 2,
        wait_ms: 0,
        reason: 'interrupted',
        message: 'The answer was cut off by a restart and is asked for again.',
      },
    });
  }
  const wanted = selectEvents(facts.options.streamModes, events);
  if (wanted.length > 0) await deps.stores.events.append(runId, wanted, turn);
}

function baseRequest(
  deps: ActivityDependencies,
  { messages, facts }: ModelTurn,
  hints: readonly HumanMessage[],
): Pick<ModelRequest, 'system' | 'messages' | 'tools'> {
  const { config } = deps;
  const { definitions, names } = deps.tools;
  const prompt = systemPrompt({
    toolNames: names,
    skillsRoot: config.skills.container_path,
    mounts: config.sandbox.mounts.map((mount) => mount.container_path),
    overlay: config.lead_prompt_overlay,
  });
  const extra = conversationSystemText(messages);
  const warning = budgetHint(config.token_budget, facts.used);
  return {
    system: extra === '' ? prompt : `${prompt}\n\n${extra}`,
    messages: [...requestMessages(messages), ...(warning === null ? [] : [warning]), ...hints],
    tools: [...definitions],
  };
}
