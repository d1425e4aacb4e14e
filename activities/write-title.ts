import type { HumanMessage, RunOutcome } from '../contracts';
import { isAppError } from '../contracts';
import { selectEvents, stepEvents } from '../core/stream-events';
import { contentText } from '../core/text';
import { localTitle, titleFromReply, titleRequest } from '../core/title';
import type { RunRow, StepFacts } from '../db';
import type { ModelReply } from '../models';
import type { ActivityDependencies } from './dependencies';

/** Beside the turns of the run, which count from 1: a repeated end of a run finds the title and does not ask again. */
const TITLE_TURN = -1;
const TITLE_NODE = 'TitleMiddleware.after_model';
const TIMEOUT_MS = 20_000;

/**
 * Lets the configured model write the thread's title when its first exchange is over. Committed by itself, with its
 * tokens; whatever goes wrong, the title becomes the user's first words.
 */
export async function writeTitle(deps: ActivityDependencies, row: RunRow, outcome: RunOutcome): Promise<void> {
  const { enabled, model_name: modelName } = deps.config.title;
  if (!enabled || modelName === null || outcome.kind !== 'success' || row.cancelAction !== null) return;
  const facts = await deps.stores.turns.facts(row.runId, TITLE_TURN);
  if (facts === null || facts.title !== null || facts.outcome !== null) return;
  const messages = await deps.conversations.load(facts);
  const { prompt_template: template, max_words: maxWords, max_chars: maxChars } = deps.config.title;
  const request = titleRequest(messages, { template, maxWords });
  if (request === null) return;
  const reply = await ask(deps, modelName, request);
  const written = reply === null ? null : titleFromReply(contentText(reply.content), maxChars);
  await commitTitle(deps, row, facts, { title: written ?? localTitle(messages, maxChars), reply });
}

async function ask(deps: ActivityDependencies, modelName: string, text: string): Promise<ModelReply | null> {
  try {
    const model = deps.models.resolve(modelName, { thinking: false, effort: null });
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    return await model.reply({ system: '', messages: [question(text)], tools: [], signal });
  } catch (error) {
    deps.log.warn({ err: error, model: modelName }, 'no model wrote the title; the first words of the user are used');
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
  { title, reply }: { title: string; reply: ModelReply | null },
): Promise<void> {
  const step = facts.stepsBefore + 1;
  const usage = reply?.usage ?? null;
  const shown = stepEvents({ node: TITLE_NODE, step }).filter(({ kind }) => kind !== 'update' && kind !== 'task');
  try {
    await deps.stores.log.commit({
      threadId,
      runId,
      channels: { title },
      turn: { turn: TITLE_TURN, messageId: '', outcome: { title } },
      usage: {
        calls: reply === null ? 0 : 1,
        input: usage?.input_tokens ?? 0,
        output: usage?.output_tokens ?? 0,
        total: usage?.total_tokens ?? 0,
      },
      checkpoint: { step, source: 'loop', node: TITLE_NODE, next: [] },
      events: selectEvents(options.streamModes, [
        { kind: 'update', payload: { node: TITLE_NODE, writes: { title } } },
        ...shown,
      ]),
    });
  } catch (error) {
    // Another attempt was quicker, or the run was ended meanwhile: the end that follows finds out.
    if (!isAppError(error, 'already_committed') && !isAppError(error, 'run_closed')) throw error;
  }
}
