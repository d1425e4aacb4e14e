import { createHash, randomUUID } from 'node:crypto';
import type { Message, ToolMessage } from '../contracts';
import { AppError, isAppError } from '../contracts';
import { newestReadMark } from '../core/messages/read-marks';
import { selectEvents, stepEvents } from '../core/stream-events';
import type { CallKey, StepCommit, WritePlanRow } from '../db';
import { runLogger } from '../observability';
import { invokeTool, planToolWrite, unknownToolOutcome, withToolMeta } from '../tools';
import type { Tool, ToolContext, ToolOutcome } from '../tools';
import type { ActivityDependencies } from './dependencies';
import type { PlannedCall } from './planned-calls';
import type { RunSetup } from './run-setups';
import { throughOutage } from './through-outage';

const NODE = 'tools';

const OUTCOME_UNKNOWN =
  'Error: the worker stopped while this tool was running, so its outcome is unknown: it may have taken effect in full, ' +
  'in part or not at all. It was not run again. Check the current state before you decide what to do.';

interface Call extends PlannedCall {
  key: CallKey;
  setup: RunSetup;
}

/**
 * Runs one tool call and commits its result. The ledger decides after a crash: a call with a result is left alone, a
 * call that only reads is repeated, a started call with unknown effect is never repeated.
 */
export async function runTool(deps: ActivityDependencies, key: CallKey, signal: AbortSignal): Promise<void> {
  const planned = deps.plannedCalls.take(key) ?? (await readCall(deps, key));
  const { entry, facts } = planned;
  if (entry.state === 'done') return;
  const call: Call = { key, ...planned, setup: await deps.setups.of(facts) };
  const begun = Date.now();
  const outcome = await perform(deps, call, signal);
  signal.throwIfAborted();
  const log = runLogger(deps.log, { runId: key.runId, threadId: facts.threadId });
  log.debug(
    { tool: entry.name, turn: key.turn, status: outcome.status, durationMs: Date.now() - begun },
    'a tool ended',
  );
  try {
    await commitResult(deps, call, outcome, signal);
  } catch (error) {
    // An attempt that was given up for dead had a result after all.
    if (!isAppError(error, 'already_committed')) throw error;
  }
}

async function readCall(deps: ActivityDependencies, key: CallKey): Promise<PlannedCall> {
  const [facts, entry] = await Promise.all([
    deps.stores.turns.facts(key.runId, key.turn),
    deps.stores.ledger.entry(key),
  ]);
  if (facts === null || facts.admission !== 'active') throw new AppError('run_closed', 'The run has ended.');
  if (entry === null) throw new AppError('internal', 'The tool call is not in the ledger.');
  return { facts, entry };
}

async function perform(deps: ActivityDependencies, call: Call, signal: AbortSignal): Promise<ToolOutcome> {
  const { invalid } = call.entry;
  if (invalid !== null) {
    const detail = invalid.error ?? 'The arguments are not valid.';
    return withToolMeta(call.entry.name, {
      status: 'error',
      content: `Error: ${call.entry.name} was not run. ${detail} Send the call again with a JSON object. Received: ${invalid.args ?? ''}`,
    });
  }
  const { tools } = call.setup;
  const tool = tools.find(call.entry.name);
  if (tool === undefined) return unknownToolOutcome(call.entry.name, tools.names);
  const context = await toolContext(deps, call, tool, signal);
  const run = (): Promise<ToolOutcome> => invokeTool(tool, call.entry.args ?? {}, context);
  if (tool.effect === 'none') return run();
  if (tool.effect === 'unknown') {
    if (call.entry.state === 'started') return outcomeUnknown(tool);
    await start(deps, call, null);
    return run();
  }
  return performWrite(deps, call, tool, context, run);
}

/** A write leaves a trace that can be checked: the file's content before and after are in the ledger. */
async function performWrite(
  deps: ActivityDependencies,
  call: Call,
  tool: Tool,
  context: ToolContext,
  run: () => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  const plan = call.entry.writePlan;
  if (call.entry.state === 'started' && plan !== null) {
    const current = await contentHash(context, plan.path);
    if (current === plan.after) return withToolMeta(tool.name, { status: 'success', content: 'OK' });
    if (current !== plan.before) return outcomeUnknown(tool);
    return run();
  }
  // A call that would be refused has no plan: running it again gives the same refusal.
  await start(deps, call, await planToolWrite(tool, call.entry.args ?? {}, context));
  return run();
}

function outcomeUnknown({ name }: Tool): ToolOutcome {
  return withToolMeta(name, { status: 'error', content: OUTCOME_UNKNOWN });
}

/** Of two attempts that both found the call not started, one may go on; the other looks again. */
async function start(deps: ActivityDependencies, { key, entry }: Call, writePlan: WritePlanRow | null): Promise<void> {
  if (await deps.stores.ledger.start(key, entry, writePlan)) return;
  throw new AppError('unavailable', 'Another attempt of this tool call is under way.');
}

async function contentHash(context: ToolContext, path: string): Promise<string | null> {
  const bytes = await (await context.sandbox()).readBytes(path);
  return bytes === null ? null : createHash('sha256').update(bytes).digest('hex');
}

async function toolContext(
  deps: ActivityDependencies,
  call: Call,
  tool: Tool,
  signal: AbortSignal,
): Promise<ToolContext> {
  const { owner, threadId } = call.facts;
  const messages: readonly Message[] = tool.effect === 'file-write' ? await deps.conversations.load(call.facts) : [];
  return {
    runId: call.key.runId,
    threadId,
    owner,
    toolCallId: `${call.key.turn}:${call.key.toolCallId}`,
    config: call.setup.config,
    signal,
    sandbox: () => deps.sandboxes.acquire({ owner, threadId }),
    readMark: (path) => newestReadMark(messages, path),
    toolNames: call.setup.tools.names,
  };
}

async function commitResult(
  deps: ActivityDependencies,
  call: Call,
  outcome: ToolOutcome,
  signal: AbortSignal,
): Promise<void> {
  const { facts, key, entry } = call;
  const step = facts.stepsBefore + 1;
  const message: ToolMessage = {
    type: 'tool',
    id: randomUUID(),
    tool_call_id: key.toolCallId,
    name: entry.name,
    content: outcome.content,
    status: outcome.status,
    artifact: outcome.artifact ?? null,
    additional_kwargs: outcome.additionalKwargs ?? {},
    response_metadata: {},
  };
  const shown = { kind: 'message' as const, payload: { node: NODE, step }, messageId: message.id };
  const [update, ...phase] = stepEvents({ node: NODE, step, messageId: message.id });
  const ownEvents = update === undefined ? [shown] : [shown, update];
  const commit: StepCommit = {
    threadId: facts.threadId,
    runId: key.runId,
    artifacts: outcome.presented,
    toolResult: {
      turn: key.turn,
      toolCallId: key.toolCallId,
      presented: outcome.presented,
      message,
      journal: { eventType: 'llm.tool.result', category: 'message', messageId: message.id },
    },
    events: selectEvents(facts.options.streamModes, ownEvents),
    phase: {
      checkpoint: { step, source: 'loop', node: NODE, next: ['model'] },
      events: selectEvents(facts.options.streamModes, phase),
    },
  };
  const result = await throughOutage(signal, () => deps.stores.log.commit(commit));
  deps.conversations.committed(facts, result, message);
  if (result.phaseComplete) deps.nextTurns.put({ runId: key.runId, turn: key.turn + 1 }, facts, result);
}
