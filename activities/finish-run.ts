import { randomUUID } from 'node:crypto';
import type { FinishRunInput, FinishRunResult, Message, RunEventInput, RunOutcome, ToolMessage } from '../contracts';
import { deliveryReceipt, effectiveOutcome, judge, takeBackFailedEdit } from '../core/agent-loop/ending';
import type { DeliveryCheck, Verdict } from '../core/agent-loop/ending';
import { hasSucceeded } from '../core/run-status';
import { selectEvents, stepEvents } from '../core/stream-events';
import { localTitle } from '../core/title';
import type { JournalInput, LeftUndone, PlannedCall, RunEnding, RunRow, StepCommit } from '../db';
import { runLogger } from '../observability';
import { RESERVED_NAMES } from '../sandbox';
import type { ActivityDependencies } from './dependencies';
import { producedFiles } from './produced-files';
import { writeTitle } from './write-title';

const CANCELLED_CALL = 'Error: this tool call was cancelled by the user before it gave a result.';
const ABANDONED_CALL = 'Error: the run ended before this tool call gave a result.';

interface EndFacts {
  delivery: DeliveryCheck;
  title: string | null;
  modelFailure: string | null;
}

/**
 * Writes the one terminal status of a run, with its delivery receipt, in one transaction, and hands the thread to the
 * next run that waits for it. Repeating it changes nothing and starts nothing twice.
 */
export async function finishRun(deps: ActivityDependencies, input: FinishRunInput): Promise<FinishRunResult> {
  const row = await deps.stores.runs.load(input.runId);
  if (row === null) return { status: 'deleted', hasWebhook: false };
  if (row.admission !== 'ended') await writeTitle(deps, row, input.outcome);
  const known = row.admission === 'ended' ? null : await gatherFacts(deps, row, input.outcome);
  const ended = await deps.stores.runs.end(input.runId, (locked, left) => {
    if (known === null) throw new Error('A run that had ended cannot be open again.');
    return decideEnding(locked, input.outcome, known, left);
  });
  if (ended === null) return { status: 'deleted', hasWebhook: false };
  if (ended.endedNow) logEnd(deps, ended.row);
  if (ended.next !== null) await startNext(deps, ended.next);
  return { status: ended.row.status, hasWebhook: ended.row.options.webhook !== undefined };
}

function logEnd({ log }: ActivityDependencies, { runId, threadId, status, error, startedAt, endedAt }: RunRow): void {
  const durationMs = startedAt === null || endedAt === null ? null : Date.parse(endedAt) - Date.parse(startedAt);
  runLogger(log, { runId, threadId }).info({ status, code: error?.code, durationMs }, 'the run ended');
}

/** This run has ended whatever becomes of the next: the reconciler starts what could not be started here. */
async function startNext({ gateway, log }: ActivityDependencies, next: RunRow): Promise<void> {
  try {
    await gateway.start(next);
  } catch (error) {
    log.warn(
      { err: error, runId: next.runId },
      'the next run of a thread could not be started; it will be tried again',
    );
  }
}

async function gatherFacts(deps: ActivityDependencies, row: RunRow, outcome: RunOutcome): Promise<EndFacts | null> {
  const { stores, config } = deps;
  const facts = await stores.turns.facts(row.runId, 0);
  if (facts === null) return null;
  const byTool = await stores.ledger.presented(row.runId);
  const { outputs } = deps.paths.directories(row.owner, row.threadId);
  const produced =
    row.startedAt === null
      ? []
      : await producedFiles({
          outputs,
          since: Date.parse(row.startedAt),
          reserved: [...RESERVED_NAMES.outputs, config.tool_output.storage_subdir],
        });
  const needsTitle = facts.title === null && config.title.enabled && row.startedAt !== null;
  const messages = needsTitle || outcome.kind === 'model_failed' ? await deps.conversations.load(facts) : [];
  const title = needsTitle ? localTitle(messages, config.title.max_chars) : null;
  const presented = [...new Set(Object.values(byTool).flat())];
  const modelFailure = failureDetailOf(messages.at(-1));
  return { title, modelFailure, delivery: { produced, presented, byTool } };
}

function failureDetailOf(message: Message | undefined): string | null {
  const detail = message?.additional_kwargs['error_detail'];
  return typeof detail === 'string' ? detail : null;
}

function decideEnding(row: RunRow, outcome: RunOutcome, known: EndFacts, left: LeftUndone): RunEnding {
  const effective = effectiveOutcome(outcome, row.cancelAction);
  const receipt = deliveryReceipt(known.delivery);
  const delivered = receipt['satisfied'] !== false;
  const judged = judge(effective, { delivered, modelFailure: known.modelFailure });
  const verdict = takeBackFailedEdit(judged, effective, row.metadata);
  return {
    status: verdict.status,
    error: verdict.error,
    stopReason: effective.kind === 'success' ? (effective.stopReason ?? null) : null,
    rollback: verdict.rollback,
    threadStatus: verdict.threadStatus,
    commit: endingCommit(row, effective, verdict, known, left),
  };
}

function endingCommit(
  row: RunRow,
  outcome: RunOutcome,
  verdict: Verdict,
  known: EndFacts,
  left: LeftUndone,
): RunEnding['commit'] {
  const step = left.step + 1;
  const breakpoint = outcome.kind === 'breakpoint' ? outcome.next : null;
  // A rollback takes the whole run back: nothing of it is completed.
  const results = verdict.rollback || breakpoint !== null ? [] : left.calls.map((call) => abandoned(call, outcome));
  const title = verdict.rollback ? null : known.title;
  const changes = results.length > 0 || title !== null || verdict.rollback || breakpoint !== null || verdict.errorFrame;
  const interrupts = breakpoint?.map((node) => ({ id: randomUUID(), value: { type: 'breakpoint', node } }));
  const checkpoint: StepCommit['checkpoint'] = {
    step,
    source: verdict.rollback ? 'fork' : 'loop',
    node: '__end__',
    next: breakpoint ?? [],
    interrupts: interrupts ?? [],
    error: verdict.errorFrame && !verdict.rollback ? verdict.error?.message : undefined,
  };
  const events: RunEventInput[] = [
    ...results.map((message): RunEventInput => ({
      kind: 'message',
      payload: { node: 'tools', step },
      messageId: message.id,
    })),
    ...(changes
      ? stepEvents({ node: '__end__', step, interrupts }).filter(({ kind }) => kind !== 'update' && kind !== 'task')
      : []),
    ...(verdict.errorFrame && verdict.error !== null
      ? [{ kind: 'run-error' as const, payload: { message: verdict.error.message, name: verdict.error.name } }]
      : []),
    { kind: 'run-end', payload: {} },
  ];
  return {
    messages: results,
    channels: title === null ? undefined : { title },
    journal: [...results.map(resultJournal), ...endJournal(verdict, known.delivery)],
    checkpoint: changes ? checkpoint : undefined,
    events: selectEvents(row.options.streamModes, events),
  };
}

function abandoned(call: PlannedCall, outcome: RunOutcome): ToolMessage {
  return {
    type: 'tool',
    id: randomUUID(),
    tool_call_id: call.toolCallId,
    name: call.name,
    status: 'error',
    content: outcome.kind === 'cancelled' ? CANCELLED_CALL : ABANDONED_CALL,
    artifact: null,
    additional_kwargs: {},
    response_metadata: {},
  };
}

function resultJournal(message: ToolMessage): JournalInput {
  return { eventType: 'llm.tool.result', category: 'message', messageId: message.id };
}

function endJournal(verdict: Verdict, delivery: DeliveryCheck): JournalInput[] {
  const ending: JournalInput = hasSucceeded(verdict.status)
    ? { eventType: 'run.end', category: 'outputs', content: {}, metadata: { status: 'success' } }
    : {
        eventType: 'run.error',
        category: 'error',
        content: verdict.error?.message ?? verdict.status,
        metadata: { error_type: verdict.error?.name ?? verdict.status },
      };
  return [ending, { eventType: 'run.delivery', category: 'outputs', content: deliveryReceipt(delivery) }];
}
