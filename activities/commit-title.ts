import type { AiMessage, HumanMessage, JsonValue, NextMove, RunEventInput, UsageMetadata } from '../contracts';
import { AppError, isAppError } from '../contracts';
import { selectEvents, stepEvents } from '../core/stream-events';
import { acceptTitle, localTitle, titlePrompt } from '../core/title';
import type { JournalInput, SideUsage, StepCommit, StepFacts } from '../db';
import { runLogger } from '../observability';
import type { ActivityDependencies } from './dependencies';
import type { ModelTurn } from './model-turn';
import { usedWith, waitingAfter } from './model-turn';
import { throughOutage } from './through-outage';

const TITLE_NODE = 'TitleMiddleware.after_model';
const TITLE_CALLER = 'middleware:title';
const TITLE_SYSTEM = 'You name conversations.';
/** The next step of the run waits for the title. */
const TITLE_TIMEOUT_MS = 15_000;

export interface AnsweredTurn {
  answer: AiMessage;
  next: NextMove;
  /** As the commit of the answer left them. */
  after: StepFacts;
}

interface WrittenTitle {
  text: string;
  model: string;
  usage: UsageMetadata | null;
  latencyMs: number;
}

/**
 * Gives the thread a title that a model writes, as a step behind the reply: the reply is committed whatever becomes of
 * the title, and a title that is committed is not asked for again. Where an attempt dies in between, the next reply or
 * the end of the run gives the title. Returns what the next step finds.
 */
export async function commitTitle(
  deps: ActivityDependencies,
  current: ModelTurn,
  { answer, next, after }: AnsweredTurn,
): Promise<StepFacts> {
  const { runId, signal, facts } = current;
  const { title: settings } = deps.config;
  const written = await writeTitle(deps, current, answer);
  const title = written?.text ?? localTitle(current.messages, settings.max_chars);
  const step = after.stepsBefore + 1;
  const [, , , ...state] = stepEvents({ node: TITLE_NODE, step });
  const commit: StepCommit = {
    threadId: facts.threadId,
    runId,
    channels: { title },
    sideUsage: written === null ? undefined : sideUsage(written),
    journal: written === null ? [] : [titleResponse(written, current.turn)],
    checkpoint: { step, source: 'loop', node: TITLE_NODE, next: waitingAfter(next) },
    events: selectEvents(facts.options.streamModes, [titleUpdate(title), ...state]),
  };
  const result = await throughOutage(signal, () => deps.stores.log.commit(commit));
  deps.conversations.committed(facts, result, answer);
  const used = usedWith(after.used, written?.usage ?? null);
  return { ...after, stepsBefore: step, logSeq: result.seq, title, used };
}

/** Null where the model gave no title; why is in the log. */
async function writeTitle(
  deps: ActivityDependencies,
  { runId, facts, messages, signal }: ModelTurn,
  answer: AiMessage,
): Promise<WrittenTitle | null> {
  const { title: settings } = deps.config;
  const log = runLogger(deps.log, { runId, threadId: facts.threadId });
  const startedAt = Date.now();
  try {
    if (!deps.models.names().includes(settings.model_name ?? '')) throw new AppError('configuration', 'No such model.');
    const model = deps.models.resolve(settings.model_name, { thinking: false, effort: null });
    const reply = await model.reply({
      system: TITLE_SYSTEM,
      messages: [titleQuestion(messages, answer, settings)],
      tools: [],
      signal: AbortSignal.any([signal, AbortSignal.timeout(TITLE_TIMEOUT_MS)]),
    });
    const text = acceptTitle(reply.content, settings.max_chars);
    if (text === null) log.warn({ model: model.name }, 'a model gave no title; the first words are taken');
    const title = text ?? localTitle(messages, settings.max_chars);
    return { text: title, model: model.name, usage: reply.usage, latencyMs: Date.now() - startedAt };
  } catch (error) {
    signal.throwIfAborted();
    const code = isAppError(error) ? error.code : 'internal';
    log.warn({ model: settings.model_name, code }, 'a title could not be asked for; the first words are taken');
    return null;
  }
}

function titleQuestion(
  messages: ModelTurn['messages'],
  answer: AiMessage,
  { prompt_template: template, max_words: maxWords }: { prompt_template: string | null; max_words: number },
): HumanMessage {
  return {
    type: 'human',
    id: `title:${answer.id}`,
    name: null,
    content: titlePrompt({ messages, answer, template, maxWords }),
    additional_kwargs: {},
    response_metadata: {},
  };
}

function sideUsage({ model, usage }: WrittenTitle): SideUsage {
  return {
    caller: TITLE_CALLER,
    model,
    calls: 1,
    input: usage?.input_tokens ?? 0,
    output: usage?.output_tokens ?? 0,
    total: usage?.total_tokens ?? 0,
  };
}

/** Without a message: the title is state, and no part of the conversation. */
function titleResponse({ model, usage, latencyMs }: WrittenTitle, turn: number): JournalInput {
  return {
    eventType: 'llm.ai.response',
    category: 'trace',
    metadata: {
      caller: TITLE_CALLER,
      model_name: model,
      usage: usage as unknown as JsonValue,
      latency_ms: latencyMs,
      llm_call_index: turn,
    },
  };
}

export function titleUpdate(title: string): RunEventInput {
  return { kind: 'update', payload: { node: TITLE_NODE, writes: { title } } };
}
