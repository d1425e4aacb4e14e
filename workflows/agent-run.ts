import {
  CancellationScope,
  continueAsNew,
  log,
  patched,
  setCurrentDetails,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import { defineSearchAttributeKey } from '@temporalio/common';
import type { AgentRunInput, NextMove, PendingToolCall, RunOutcome, RunProgress } from '../contracts';
import { SEARCH_ATTRIBUTES } from '../contracts';
import { afterModel, afterTools, takeStep } from '../core/agent-loop/progress';
import { callModel, callModelAt, deliverWebhook, local, slowTool } from './activities';
import { undisturbed, watchForCancel } from './cancellation';
import { failureReason, mayGoOnElsewhere, outcomeOfFailure } from './failures';

/** Kept well under the server's warning, so that a step never meets the limit. */
const MAX_HISTORY_EVENTS = 3_000;

/** Tool calls of one reply that run at once; with 2,000 pending activities the server takes no step of the workflow. */
const MAX_PARALLEL_CALLS = 100;

/** Runs that began before this change go on as they began. */
const MODEL_CALLS_START_LOCALLY = 'model-calls-start-locally';

interface Run {
  runId: string;
  startsLocally: boolean;
}

const statusAttribute = defineSearchAttributeKey(SEARCH_ATTRIBUTES.status, 'KEYWORD');

/**
 * One agent run: begin, then model calls and tool phases in turn, then finish. History holds ids and decisions only.
 * Whatever stops the loop, `finishRun` writes the one terminal status.
 */
export async function agentRun(input: AgentRunInput): Promise<void> {
  const run: Run = { runId: input.runId, startsLocally: patched(MODEL_CALLS_START_LOCALLY) };
  const cancel = watchForCancel();
  const outcome = await cancel.scope
    .run(() => loop(run, input.resumeAt, () => cancel.scope.consideredCancelled))
    .catch((error: unknown) => outcomeOfFailure(error, cancel.action));
  await CancellationScope.nonCancellable(() => finish(input.runId, outcome));
}

async function loop(run: Run, resumeAt: RunProgress | undefined, cancelled: () => boolean): Promise<RunOutcome> {
  let progress = resumeAt ?? (await begin(run));
  for (;;) {
    progress = takeStep(progress);
    const { next, turn } = progress;
    if (next.kind === 'end') return next.outcome;
    setCurrentDetails(`step ${progress.stepsTaken}: ${next.kind === 'model' ? 'model' : namesOf(next.calls)}`);
    if (next.kind === 'model') {
      progress = afterModel(progress, await askModel(run, turn));
    } else {
      await runTools(run, next.calls);
      progress = afterTools(progress);
      const { historyLength, continueAsNewSuggested } = workflowInfo();
      if ((continueAsNewSuggested || historyLength > MAX_HISTORY_EVENTS) && !cancelled()) {
        await continueAsNew<typeof agentRun>({ runId: run.runId, resumeAt: progress });
      }
    }
  }
}

/** A step beside the workflow task. */
function beside<T>(run: Run, step: () => Promise<T>): Promise<T> {
  return run.startsLocally ? undisturbed(step) : step();
}

async function begin(run: Run): Promise<RunProgress> {
  const { runId } = run;
  const { closed, next, stepLimit, stopAfterTools } = await beside(run, () =>
    local.beginRun.executeWithOptions({ summary: 'begin' }, [{ runId }]),
  );
  if (closed) log.info('the run had ended before it began', { runId });
  return { turn: 1, stepsTaken: 0, stepLimit, stopAfterTools, next };
}

/**
 * A quick reply is over within this workflow task, which spares the server a round trip for each turn. A slow one goes
 * on as an activity of the worker that holds it; when that worker is lost, as an activity of any.
 */
async function askModel(run: Run, turn: number): Promise<NextMove> {
  const summary = `turn ${turn}: model`;
  const input = { runId: run.runId, turn };
  if (!run.startsLocally) return callModel.executeWithOptions({ summary }, [input]);
  const start = await beside(run, () => local.startModelCall.executeWithOptions({ summary }, [input]));
  if (start.kind === 'over') return start.next;
  try {
    return await callModelAt(start.taskQueue, summary)(input);
  } catch (error) {
    if (!mayGoOnElsewhere(error)) throw error;
    return callModel.executeWithOptions({ summary }, [input]);
  }
}

function namesOf(calls: readonly PendingToolCall[]): string {
  return calls.map((call) => call.name).join(', ');
}

/**
 * All calls of a reply, in parallel. When one of them stops the run, by a cancel or a failure, the others are waited
 * for: what they started must be over before the run has ended.
 */
async function runTools(run: Run, calls: readonly PendingToolCall[]): Promise<void> {
  const scope = new CancellationScope();
  await scope.run(async () => {
    const waiting = calls.values();
    const lanes = calls.slice(0, MAX_PARALLEL_CALLS).map(async () => {
      for (const call of waiting) await runTool(run, call);
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

async function runTool(run: Run, { turn, toolCallId, name, pace, timeoutMs }: PendingToolCall): Promise<void> {
  const input = { runId: run.runId, turn, toolCallId };
  if (pace === 'quick') {
    return beside(run, () => local.runTool.executeWithOptions({ summary: `turn ${turn}: ${name}` }, [input]));
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
