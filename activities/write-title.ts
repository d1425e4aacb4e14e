import type { HumanMessage, JsonValue, RunOutcome } from '../contracts';
import { isAppError } from '../contracts';
import { selectEvents, stepEvents } from '../core/stream-events';
import { contentText } from '../core/text';
import { localTitle, titleFromReply, titleRequest } from '../core/title';
import type { JournalInput, RunRow, SideUsage, StepCommit, StepFacts } from '../db';
import type { ModelReply } from '../models';
import type { ActivityDependencies } from './dependencies';
import { pacedModel } from './paced-model';
import type { RunSetup } from './run-setups';
import { setupForEnding } from './setup-for-ending';
import { throughOutage } from './through-outage';

/** Beside the turns of the run, which count from 1: a repeated end of a run finds the title and does not ask again. */
const TITLE_TURN = -1;
const TITLE_CALLER = 'middleware:title';
const TITLE_NODE = 'TitleMiddleware.after_model';
const TIMEOUT_MS = 20_000;
/** With the question, less than the time that the end of a run may take. */
const STORE_TIMEOUT_MS = 25_000;

/**
 * Lets the configured model write the thread's title when its first exchange is over. Committed by itself, with its
 * tokens; whatever goes wrong, the title becomes the user's first words.
 */
export async function writeTitle(deps: ActivityDependencies, row: RunRow, outcome: RunOutcome): Promise<void> {
  const setup = await setupForEnding(deps, row);
  const { enabled, model_name: modelName } = setup.config.title;
  if (!enabled || modelName === null || outcome.kind !== 'success' || row.cancelAction !== null) return;
  const facts = await deps.stores.turns.facts(row.runId, TITLE_TURN);
  if (facts === null || facts.title !== null || facts.outcome !== null) return;
  const messages = await deps.conversations.load(facts);
  const { prompt_template: template, max_words: maxWords, max_chars: maxChars } = setup.config.title;
  const request = titleRequest(messages, { template, maxWords });
  if (request === null) return;
  const asked = await ask(deps, setup, { modelName, text: request });
  const written = asked === null ? null : titleFromReply(contentText(asked.reply.content), maxChars);
  await commitTitle(deps, row, facts, { title: written ?? localTitle(messages, maxChars), asked });
}

interface AskedTitle {
  /** The model that answered. */
  model: string;
  reply: ModelReply;
  latencyMs: number;
}

async function ask(
  { log, permits }: ActivityDependencies,
  { config, models }: RunSetup,
  { modelName, text }: { modelName: string; text: string },
): Promise<AskedTitle | null> {
  const begun = Date.now();
  try {
    const model = pacedModel(permits, config, models.resolve(modelName, { thinking: false, effort: null }));
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const reply = await model.reply({ system: '', messages: [question(text)], tools: [], signal });
    return { model: model.name, reply, latencyMs: Date.now() - begun };
  } catch (error) {
    log.warn({ err: error, model: modelName }, 'no model wrote the title; the first words of the user are used');
    return null;
  }
}

function question(content: string): HumanMessage {
  return { type: 'human', id: 'title', name: null, content, additional_kwargs: {}, response_metadata: {} };
}

async function commitTitle(
  deps: ActivityDependencies,
  { runId, threadId, options }: RunRow,
  facts: StepFacts,
  { title, asked }: { title: string; asked: AskedTitle | null },
): Promise<void> {
  const step = facts.stepsBefore + 1;
  const shown = stepEvents({ node: TITLE_NODE, step }).filter(({ kind }) => kind !== 'update' && kind !== 'task');
  try {
    const commit: StepCommit = {
      threadId,
      runId,
      channels: { title },
      turn: { turn: TITLE_TURN, messageId: '', outcome: { title } },
      ...(asked === null ? {} : { sideUsage: sideUsage(asked), journal: [titleResponse(asked)] }),
      checkpoint: { step, source: 'loop', node: TITLE_NODE, next: [] },
      events: selectEvents(options.streamModes, [
        { kind: 'update', payload: { node: TITLE_NODE, writes: { title } } },
        ...shown,
      ]),
    };
    // The title is paid for.
    await throughOutage(AbortSignal.timeout(STORE_TIMEOUT_MS), () => deps.stores.log.commit(commit));
  } catch (error) {
    // Another attempt was quicker, or the run was ended meanwhile: the end that follows finds out.
    if (!isAppError(error, 'already_committed') && !isAppError(error, 'run_closed')) throw error;
  }
}

/** Not the lead agent's, and perhaps of another model: totals by caller and by model say so. */
function sideUsage({ model, reply: { usage } }: AskedTitle): SideUsage {
  return {
    caller: TITLE_CALLER,
    model,
    calls: 1,
    input: usage?.input_tokens ?? 0,
    output: usage?.output_tokens ?? 0,
    total: usage?.total_tokens ?? 0,
  };
}

/** No part of the conversation, so it is not among its messages. */
function titleResponse({ model, reply, latencyMs }: AskedTitle): JournalInput {
  const usage = reply.usage as unknown as JsonValue;
  return {
    eventType: 'llm.ai.response',
    category: 'trace',
    metadata: { caller: TITLE_CALLER, model_name: model, usage, latency_ms: latencyMs },
  };
}
