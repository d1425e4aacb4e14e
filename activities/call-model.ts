import type { NextMove } from '../contracts';
import { AppError, isAppError } from '../contracts';
import { failureDetail } from '../models';
import { askModel } from './ask-model';
import { commitFailure, commitReply } from './commit-reply';
import type { ActivityDependencies } from './dependencies';
import type { ModelTurn } from './model-turn';

/**
 * One turn of the model, whole: read the conversation, ask, stream, and commit the reply with its ledger rows, events
 * and usage in one transaction. A retry that finds the reply committed does not ask again.
 */
export async function callModel(
  deps: ActivityDependencies,
  { runId, turn }: { runId: string; turn: number },
  signal: AbortSignal,
): Promise<NextMove> {
  const facts = deps.nextTurns.take({ runId, turn }) ?? (await deps.stores.turns.facts(runId, turn));
  if (facts === null || facts.admission !== 'active') throw new AppError('run_closed', 'The run has ended.');
  if (facts.outcome !== null) return facts.outcome as unknown as NextMove;
  if (facts.cancelAction !== null) throw new AppError('run_cancelled', 'The run was cancelled.');
  const [setup, messages] = await Promise.all([deps.setups.of(facts), deps.conversations.load(facts)]);
  const current: ModelTurn = {
    runId,
    turn,
    step: facts.stepsBefore + 1,
    facts,
    setup,
    messages,
    startedAt: Date.now(),
    signal,
  };
  try {
    const { message, reply } = await askModel(deps, current);
    return await commitReply(deps, current, message, reply);
  } catch (error) {
    if (isAppError(error, 'already_committed')) return committedOutcome(deps, runId, turn);
    if (signal.aborted || !isAppError(error) || failureDetail(error) === null) throw error;
    return commitFailure(deps, current, error);
  }
}

async function committedOutcome(deps: ActivityDependencies, runId: string, turn: number): Promise<NextMove> {
  const facts = await deps.stores.turns.facts(runId, turn);
  if (facts === null || facts.outcome === null) throw new AppError('run_closed', 'The run has ended.');
  return facts.outcome as unknown as NextMove;
}
