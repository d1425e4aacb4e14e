import type { CancelAction, JsonObject, RunError, RunOutcome, RunStatus } from '../../contracts';
import { ROLLED_BACK_ERROR, statusAfterCancel } from '../run-status';

export interface DeliveryCheck {
  /** Files under outputs that the run made or changed. */
  produced: string[];
  presented: string[];
  byTool: Record<string, string[]>;
}

export interface Verdict {
  status: RunStatus;
  error: RunError | null;
  rollback: boolean;
  threadStatus: 'idle' | 'interrupted' | 'error';
  /** Whether the stream tells of the failure in a frame of its own. */
  errorFrame: boolean;
}

const DELIVERY_ERROR: RunError = {
  name: 'ArtifactDeliveryError',
  message: 'Artifact delivery incomplete: no produced output artifact was presented',
  code: 'artifact_delivery',
};

const MODEL_FAILED = 'The model could not answer.';

export interface JudgedFacts {
  /** Every file that the run made for its user was presented, at least in part. */
  delivered: boolean;
  /** What the fallback message says about a failed model. */
  modelFailure: string | null;
}

/** A cancel that was accepted before the end was written wins over what the loop made of itself. */
export function effectiveOutcome(outcome: RunOutcome, cancelAction: CancelAction | null): RunOutcome {
  return cancelAction === null ? outcome : { kind: 'cancelled', action: cancelAction };
}

/** The terminal status of a run. */
export function judge(outcome: RunOutcome, { delivered, modelFailure }: JudgedFacts): Verdict {
  switch (outcome.kind) {
    case 'success':
      return delivered ? success('idle') : failure(DELIVERY_ERROR, false);
    case 'breakpoint':
      return success('interrupted');
    case 'model_failed':
      return failure({ name: 'ModelError', message: modelFailure ?? MODEL_FAILED, code: outcome.code }, false);
    case 'step_limit':
      return failure(
        {
          name: 'GraphRecursionError',
          message: `Recursion limit of ${outcome.limit} reached without hitting a stop condition.`,
          code: 'recursion_limit',
        },
        true,
      );
    case 'failed':
      return failure({ name: outcome.name, message: outcome.message, code: outcome.code }, true);
    case 'cancelled':
      return {
        status: statusAfterCancel(outcome.action),
        error: outcome.action === 'rollback' ? ROLLED_BACK_ERROR : null,
        rollback: outcome.action === 'rollback',
        threadStatus: 'idle',
        errorFrame: false,
      };
  }
}

const FAILURES: ReadonlySet<RunOutcome['kind']> = new Set(['model_failed', 'step_limit', 'failed']);

/**
 * A question that was edited and could not be answered leaves the conversation as it was before.
 * The message that told of the failure goes with it, so the stream tells of it.
 */
export function takeBackFailedEdit(verdict: Verdict, outcome: RunOutcome, metadata: JsonObject): Verdict {
  if (metadata['replay_kind'] !== 'edit' || !FAILURES.has(outcome.kind)) return verdict;
  return { ...verdict, rollback: true, threadStatus: 'idle', errorFrame: true };
}

function success(threadStatus: 'idle' | 'interrupted'): Verdict {
  return { status: 'success', error: null, rollback: false, threadStatus, errorFrame: false };
}

function failure(error: RunError, errorFrame: boolean): Verdict {
  return { status: 'error', error, rollback: false, threadStatus: 'error', errorFrame };
}

/** A produced file is delivered when it, or a directory that holds it, was presented. */
export function deliveryReceipt({ produced, presented, byTool }: DeliveryCheck): JsonObject {
  const receipt: JsonObject = { presented: presented.length, paths: presented, by_tool: byTool };
  if (produced.length === 0) return receipt;
  const matched = produced.filter((path) =>
    presented.some((shown) => path === shown || path.startsWith(`${shown.replace(/\/$/, '')}/`)),
  );
  const stage = matched.length > 0 ? 'presented' : presented.length > 0 ? 'mismatched' : 'not_started';
  return {
    ...receipt,
    verification: { source: 'outputs_changed', requirement: 'present_files_matches_produced_output' },
    produced_paths: produced,
    presented_paths: presented,
    matched_paths: matched,
    stage,
    satisfied: matched.length > 0,
  };
}
