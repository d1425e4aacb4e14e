import { v7 as uuid7 } from 'uuid';
import type { AiMessage, HumanMessage, RunEventInput } from '../contracts';
import type { Config } from '../contracts/schemas/config';
import { acceptReply } from '../core/messages/accept-reply';
import { conversationSystemText, requestMessages } from '../core/prompt/request-messages';
import { budgetWarning, mayAskAgain } from '../core/reply-policies';
import type { TokenTotals } from '../core/reply-policies';
import { systemPrompt } from '../core/prompt/system-prompt';
import { runWish } from '../core/reasoning';
import { selectEvents, stepStartEvents, wantsKind } from '../core/stream-events';
import type { ModelReply, ModelRequest, RetryNotice } from '../models';
import { callWithRetries } from '../models';
import type { DeltaWriter } from './delta-writer';
import { createDeltaWriter } from './delta-writer';
import type { ActivityDependencies } from './dependencies';
import type { ModelTurn } from './model-turn';
import { MODEL_NODE } from './model-turn';
import { pacedModel } from './paced-model';
import { compacting, insisting, isSilence } from './second-chances';
import type { Ask, RequestParts } from './second-chances';

/** Asks until there is a reply or no attempt is left, and streams what comes. Commits nothing but stream events. */
export async function askModel(
  deps: ActivityDependencies,
  current: ModelTurn,
): Promise<{ message: AiMessage; reply: ModelReply }> {
  const { facts, runId, setup, turn, step, signal } = current;
  const modes = facts.options.streamModes;
  const append = (events: RunEventInput[]): Promise<unknown> => deps.stores.events.append(runId, events, turn);
  await tellStart(deps, current);

  const abort = new AbortController();
  const combined = AbortSignal.any([signal, abort.signal]);
  const streams = wantsKind(modes, 'text-delta');
  let messageId = '';
  let writer: DeltaWriter | null = null;
  const request = (parts: RequestParts) => (): ModelRequest => {
    // Each attempt is a message of its own: what a failed one streamed is superseded by the next state.
    messageId = `lc_run--${uuid7()}`;
    writer = streams ? createDeltaWriter({ append, messageId, step, onFailure: (error) => abort.abort(error) }) : null;
    return { ...parts, signal: combined, onDelta: (delta) => writer?.push(delta) };
  };
  const drain = async (): Promise<void> => writer?.drain();
  const tell = async (notice: RetryNotice): Promise<void> => {
    await drain();
    if (wantsKind(modes, 'custom')) await append([{ kind: 'custom', payload: { ...notice } }]);
  };

  const { config, models } = setup;
  const model = pacedModel(deps.permits, config, models.resolve(facts.modelName, runWish(facts.options.context)));
  const silenceIsFinal = mayAskAgain(current.messages);
  const ask: Ask = (parts) =>
    callWithRetries({
      model,
      request: request(parts),
      settings: config.llm_call,
      onRetry: async (notice, error) => {
        // The same words would be met with the same silence.
        if (silenceIsFinal && isSilence(error)) throw error;
        await tell(notice);
      },
    });
  const askOrCompact = compacting(ask, tell);
  const askForAnswer = silenceIsFinal ? insisting(askOrCompact) : askOrCompact;
  const reply = await deps.permits.call(model.name, config.circuit_breaker, () => askForAnswer(baseRequest(current)));
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

function baseRequest({ messages, facts, setup }: ModelTurn): Pick<ModelRequest, 'system' | 'messages' | 'tools'> {
  const { config, tools } = setup;
  const { definitions, names } = tools;
  const prompt = systemPrompt({
    toolNames: names,
    skillsRoot: config.skills.container_path,
    mounts: config.sandbox.mounts.map((mount) => mount.container_path),
  });
  const { prepend, append } = config.lead_prompt_overlay;
  const parts = [prepend, prompt, conversationSystemText(messages), append];
  return {
    system: parts.filter(Boolean).join('\n\n'),
    messages: [...requestMessages(messages), ...budgetNote(config, facts.spent)],
    tools: [...definitions],
  };
}

/** Only in the request: the conversation itself does not hold it. */
function budgetNote(config: Config, spent: TokenTotals): HumanMessage[] {
  const text = budgetWarning(spent, config.token_budget);
  if (text === null) return [];
  return [
    {
      type: 'human',
      id: 'budget-warning',
      name: 'budget_warning',
      content: text,
      additional_kwargs: { hide_from_ui: true },
      response_metadata: {},
    },
  ];
}
