import {
  CancellationScope,
  continueAsNew,
  log,
  setCurrentDetails,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import { defineSearchAttributeKey } from '@temporalio/common';
import type { AgentRunInput, ModelTurnInput, NextMove, PendingToolCall, RunOutcome, RunProgress } from '../contracts';
import { SEARCH_ATTRIBUTES } from '../contracts';
import { afterModel, afterTools, takeStep } from '../core/agent-loop/progress';
import { callModel, callModelAt, deliverWebhook, local, slowTool } from './activities';
import { undisturbed, watchForCancel } from './cancellation';
import { failureReason, mayGoOnElsewhere, outcomeOfFailure } from './failures';

/** Kept well under the server's warning, so that a step never meets the limit. */
const MAX_HISTORY_EVENTS = 3_000;

/** Tool calls of one reply that run at once; with 2,000 pending activities the server takes no step of the workflow. */
const MAX_PARALLEL_CALLS = 100;

const statusAttribute = defineSearchAttributeKey(SEARCH_ATTRIBUTES.status, 'KEYWORD');

/**
 * One agent run: begin, then model calls and tool phases in turn, then finish. History holds ids and decisions only.
 * Whatever stops the loop, `finishRun` writes the one terminal status.
 */
export async function agentRun(input: AgentRunInput): Promise<void> {
  const cancel = watchForCancel();
  const outcome = await cancel.scope
    .run(() => loop(input, () => cancel.scope.consideredCancelled))
    .catch((error: unknown) => outcomeOfFailure(error, cancel.action));
  await CancellationScope.nonCancellable(() => finish(input.runId, outcome));
}

async function loop(input: AgentRunInput, cancelled: () => boolean): Promise<RunOutcome> {
  let progress = input.resumeAt ?? (await begin(input.runId));
  for (;;) {
    progress = takeStep(progress);
    const { next, turn } = progress;
    if (next.kind === 'end') return next.outcome;
    setCurrentDetails(`step ${progress.stepsTaken}: ${next.kind === 'model' ? 'model' : namesOf(next.calls)}`);
    if (next.kind === 'model') {
      progress = afterModel(progress, await askModel({ runId: input.runId, turn }));
    } else {
      await runTools(input.runId, next.calls);
      progress = afterTools(progress);
      const { historyLength, continueAsNewSuggested } = workflowInfo();
      if ((continueAsNewSuggested || historyLength > MAX_HISTORY_EVENTS) && !cancelled()) {
        await continueAsNew<typeof agentRun>({ runId: input.runId, resumeAt: progress });
      }
    }
  }
}

async function begin(runId: string): Promise<RunProgress> {
  const { closed, next, stepLimit, stopAfterTools } = await undisturbed(() =>
    local.beginRun.executeWithOptions({ summary: 'begin' }, [{ runId }]),
  );
  if (closed) log.info('the run had ended before it began', { runId });
  return { turn: 1, stepsTaken: 0, stepLimit, stopAfterTools, next };
}

/**
 * A quick reply is over within this workflow task, which spares the server a round trip for each turn. A slow one goes
 * on as an activity of the worker that holds it; when that worker is lost, as an activity of any.
 */
async function askModel(turn: ModelTurnInput): Promise<NextMove> {
  const summary = `turn ${turn.turn}: model`;
  const start = await undisturbed(() => local.startModelCall.executeWithOptions({ summary }, [turn]));
  if (start.kind === 'over') return start.next;
  try {
    return await callModelAt(start.taskQueue, summary)(turn);
  } catch (error) {
    if (!mayGoOnElsewhere(error)) throw error;
    return callModel.executeWithOptions({ summary }, [turn]);
  }
}

function namesOf(calls: readonly PendingToolCall[]): string {
  return calls.map((call) => call.name).join(', ');
}

/**
 * All calls of a reply, in parallel. When one of them stops the run, by a cancel or a failure, the others are waited
 * for: what they started must be over before the run has ended.
 */
async function runTools(runId: string, calls: readonly PendingToolCall[]): Promise<void> {
  const scope = new CancellationScope();
  await scope.run(async () => {
    const waiting = calls.values();
    const lanes = calls.slice(0, MAX_PARALLEL_CALLS).map(async () => {
      for (const call of waiting) await runTool(runId, call);
    });
    try {
      await Promise.all(lanes);
    } catch (error) {
      scope.cancel();
      await Promise.allSettled(lanes);
      throw error;
    }
  });
}

async function runTool(runId: string, { turn, toolCallId, name, pace, timeoutMs }: PendingToolCall): Promise<void> {
  const input = { runId, turn, toolCallId };
  if (pace === 'quick') {
    return undisturbed(() => local.runTool.executeWithOptions({ summary: `turn ${turn}: ${name}` }, [input]));
  }
  return slowTool(timeoutMs, `turn ${turn}: ${name}`)(input);
}

async function finish(runId: string, outcome: RunOutcome): Promise<void> {
  const { status, hasWebhook } = await local.finishRun.executeWithOptions({ summary: 'finish' }, [{ runId, outcome }]);
  upsertSearchAttributes([{ key: statusAttribute, value: status }]);
  setCurrentDetails(`ended: ${status}`);
  if (hasWebhook) await tellWebhook(runId);
}

/** The run has ended, whatever becomes of the message about it: a receiver that cannot be told fails nothing. */
async function tellWebhook(runId: string): Promise<void> {
  try {
    await deliverWebhook.executeWithOptions({ summary: 'webhook' }, [{ runId }]);
  } catch (error) {
    log.warn('the webhook of a run was not told of its end', { runId, reason: failureReason(error) });
    setCurrentDetails('ended; its webhook was not told');
  }
}
