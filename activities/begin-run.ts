import { lstat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type {
  AiMessage,
  BeginRunResult,
  HumanMessage,
  JsonObject,
  JsonValue,
  Message,
  NextMove,
  RunEventInput,
  RunOutcome,
} from '../contracts';
import { isAppError } from '../contracts';
import { runLogger } from '../observability';
import { stopsBetween } from '../core/agent-loop/breakpoints';
import { stepLimit } from '../core/agent-loop/progress';
import { runWish } from '../core/reasoning';
import type { ReasoningAdjustment } from '../core/reasoning';
import { uploadedFiles } from '../core/prompt/request-messages';
import { selectEvents, stepEvents } from '../core/stream-events';
import { storableJson } from '../core/text';
import type { CheckpointRow, JournalInput, PlannedToolCall, StepCommit, StepFacts } from '../db';
import type { ActivityDependencies } from './dependencies';
import { pendingCall } from './pending-call';
import type { RunSetup } from './run-setups';

/** Turn 0 is the beginning of a run; its outcome is what a retry gives back. */
const BEGIN_TURN = 0;
const CLOSED: BeginRunResult = {
  closed: true,
  stepLimit: 0,
  stopAfterTools: false,
  next: { kind: 'end', outcome: { kind: 'success' } },
};

interface Beginning {
  next: NextMove;
  /** State to return to first: the checkpoint that the request names. */
  base: CheckpointRow | null;
  restore?: number;
  toolCalls: PlannedToolCall[];
  modelName: string | null;
  adjustments: ReasoningAdjustment[];
}

interface ResolvedModel {
  name: string | null;
  /** What the model changes in what the run wants of its reasoning. */
  adjustments: ReasoningAdjustment[];
  failure?: RunOutcome;
}

/** Makes a pending run a running one: its input is in the log and the first move is decided. */
export async function beginRun(deps: ActivityDependencies, runId: string): Promise<BeginRunResult> {
  const facts = await deps.stores.turns.facts(runId, BEGIN_TURN);
  if (facts === null || facts.admission !== 'active') return CLOSED;
  if (facts.outcome !== null) return facts.outcome as unknown as BeginRunResult;

  const setup = await deps.setups.newest();
  const { config, hash: configHash } = setup;
  const beginning = await planBeginning(deps, facts, setup);
  const result: BeginRunResult = {
    closed: false,
    stepLimit: stepLimit(facts.options.recursionLimit, config.recursion_limit, config.max_recursion_limit),
    stopAfterTools: stopsBetween(facts.options, 'tools', 'model'),
    next: facts.cancelAction === null ? beginning.next : endWith({ kind: 'cancelled', action: facts.cancelAction }),
  };
  const commit = await beginningCommit(deps, runId, facts, beginning, result);
  await deps.stores.configurations.keep(setup);
  const begun = await deps.stores.runs.begin(runId, commit, { modelName: beginning.modelName, configHash });
  if (begun) {
    const log = runLogger(deps.log, { runId, threadId: facts.threadId });
    const { modelName: model, adjustments } = beginning;
    log.info({ model, adjustments, next: result.next.kind }, 'the run began');
    return result;
  }
  const earlier = await deps.stores.turns.facts(runId, BEGIN_TURN);
  return earlier?.outcome === undefined || earlier.outcome === null
    ? CLOSED
    : (earlier.outcome as unknown as BeginRunResult);
}

function endWith(outcome: RunOutcome): NextMove {
  return { kind: 'end', outcome };
}

async function planBeginning(deps: ActivityDependencies, facts: StepFacts, setup: RunSetup): Promise<Beginning> {
  const { log } = deps.stores;
  const { options, threadId } = facts;
  const head = await log.head(threadId);
  const base = options.checkpointId === undefined ? head : await log.checkpoint(threadId, options.checkpointId);
  const restore = base !== null && base.watermark !== head?.watermark ? base.watermark : undefined;
  const model = resolveModel(setup, facts);
  const beginning = { base, restore, toolCalls: [], modelName: model.name, adjustments: model.adjustments };
  if (model.failure !== undefined) return { ...beginning, next: endWith(model.failure) };
  if (options.messages.length > 0) {
    const stop = stopsBetween(options, null, 'model');
    return { ...beginning, next: stop ? endWith({ kind: 'breakpoint', next: ['model'] }) : { kind: 'model' } };
  }
  // Without new messages a run only goes on from a step that waits; it never asks the model out of the blue.
  const waiting = base?.next ?? [];
  if (waiting.includes('model')) return { ...beginning, next: { kind: 'model' } };
  if (!waiting.includes('tools')) return { ...beginning, next: endWith({ kind: 'success' }) };
  const state = await log.state(threadId, base?.watermark);
  const waitingCalls = unansweredCalls(state.messages.map((text) => JSON.parse(text) as Message));
  if (waitingCalls === null) return { ...beginning, next: { kind: 'model' } };
  const toolCalls = waitingCalls.calls.map(({ id, name }, place) => ({
    toolCallId: id,
    turn: BEGIN_TURN,
    place,
    name,
    messageId: waitingCalls.reply.id,
  }));
  const calls = toolCalls.map((call) => pendingCall(setup, call));
  return { ...beginning, toolCalls, next: { kind: 'tools', calls } };
}

/** The calls of the newest reply that have no result yet; null where there are none. */
function unansweredCalls(messages: readonly Message[]): { reply: AiMessage; calls: AiMessage['tool_calls'] } | null {
  const at = messages.findLastIndex((message) => message.type === 'ai');
  const reply = messages[at];
  if (reply?.type !== 'ai') return null;
  const answered = new Set(
    messages.slice(at + 1).flatMap((message) => (message.type === 'tool' ? [message.tool_call_id] : [])),
  );
  const calls = reply.tool_calls.filter((call) => !answered.has(call.id));
  return calls.length === 0 ? null : { reply, calls };
}

function resolveModel({ models }: RunSetup, facts: StepFacts): ResolvedModel {
  const agent = facts.options.context.agent_name ?? facts.assistantId;
  if (!['lead_agent', 'lead-agent'].includes(agent)) {
    return noModel('not_found', 'AgentNotFoundError', `Agent '${agent}' does not exist.`);
  }
  try {
    const { context } = facts.options;
    // With its wish: a model that rules it out ends the run here, not in the middle of it.
    const wish = runWish(context);
    const { name } = models.resolve(context.model_name, wish);
    return { name, adjustments: models.adjustments(name, wish) };
  } catch (error) {
    if (!isAppError(error)) throw error;
    return noModel(error.code, 'ConfigurationError', error.message);
  }
}

function noModel(code: string, name: string, message: string): ResolvedModel {
  return { name: null, adjustments: [], failure: { kind: 'failed', code, name, message } };
}

async function beginningCommit(
  deps: ActivityDependencies,
  runId: string,
  facts: StepFacts,
  beginning: Beginning,
  result: BeginRunResult,
): Promise<Omit<StepCommit, 'runId'>> {
  const messages = await Promise.all(
    facts.options.messages.map((message) => prepareInput(deps, runId, facts, message)),
  );
  const step = (beginning.base?.step ?? -2) + 1;
  const node = '__start__';
  const shown: RunEventInput[] = messages.map((message) => ({
    kind: 'message',
    payload: { node, step },
    messageId: message.id,
  }));
  const events = stepEvents({ node, step }).filter((event) => event.kind !== 'update' && event.kind !== 'task');
  return {
    threadId: facts.threadId,
    restore: beginning.restore,
    messages,
    channels: facts.options.channels,
    journal: [runStart(facts, beginning), ...humanInput(messages)],
    toolCalls: beginning.toolCalls,
    turn: { turn: BEGIN_TURN, messageId: '', outcome: result as unknown as JsonValue },
    checkpoint: {
      step,
      source: 'input',
      node,
      next: result.next.kind === 'end' ? [] : [result.next.kind],
      parentId: beginning.base?.checkpointId,
    },
    events: selectEvents(facts.options.streamModes, [...shown, ...events]),
  };
}

function runStart(facts: StepFacts, { modelName, adjustments }: Beginning): JournalInput {
  const adjusted: JsonObject = adjustments.length === 0 ? {} : { reasoning_adjustments: adjustments };
  return {
    eventType: 'run.start',
    category: 'trace',
    content: { chain: 'lead_agent' },
    metadata: { caller: 'lead_agent', model_name: modelName, thread_id: facts.threadId, ...adjusted },
  };
}

function humanInput(messages: readonly Message[]): JournalInput[] {
  return messages
    .filter((message) => message.type === 'human')
    .map((message) => ({
      eventType: 'llm.human.input',
      category: 'message',
      messageId: message.id,
      metadata: { caller: 'lead_agent' },
    }));
}

const UPLOADS_PREFIX = '/mnt/user-data/uploads/';

async function isUploaded(uploads: string, virtualPath: string): Promise<boolean> {
  const name = virtualPath.startsWith(UPLOADS_PREFIX) ? virtualPath.slice(UPLOADS_PREFIX.length) : '';
  if (name === '' || basename(name) !== name) return false;
  return lstat(join(uploads, name)).then(
    (found) => found.isFile(),
    () => false,
  );
}

/** Stamps a message with its run, and keeps only those of its files that are there. */
async function prepareInput(
  deps: ActivityDependencies,
  runId: string,
  facts: StepFacts,
  message: Message,
): Promise<Message> {
  if (message.type !== 'human') return storableJson(message);
  const kwargs: HumanMessage['additional_kwargs'] = {
    ...message.additional_kwargs,
    run_id: runId,
    timestamp: new Date().toISOString(),
  };
  const files = uploadedFiles(kwargs['files'] ?? null);
  if (files.length > 0) {
    const { uploads } = deps.paths.directories(facts.owner, facts.threadId);
    const found = await Promise.all(files.map(async (file) => ((await isUploaded(uploads, file.path)) ? [file] : [])));
    kwargs['files'] = found.flat().map((file) => ({ ...file, status: 'uploaded' }));
  }
  return storableJson({ ...message, name: message.name ?? 'user-input', additional_kwargs: kwargs });
}
