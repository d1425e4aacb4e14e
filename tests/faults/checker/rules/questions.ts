import type { RunStatus } from '../../../../contracts';
import { hasSucceeded } from '../../../../core/run-status';
import type { Evidence, Finding, Rule } from '../evidence';
import { groupBy } from '../grouping';
import { lastAwakening } from '../late-questions';

/**
 * A committed reply that is asked for again stands in the conversation already: to the model that is a question of the
 * next turn, which comes too early, or behind the last one.
 */
export const questionsInTurn: Rule = {
  name: 'question-out-of-turn',
  promise: 'The model is asked for a turn when the turn before is over with all its results, and never after the last.',
  check(evidence) {
    const overAt = endsOfTurns(evidence);
    const turnsOf = groupBy(evidence.turns, ({ runId }) => runId);
    const questions = groupBy(evidence.modelRequests, ({ key }) => key);
    return evidence.runs.flatMap(({ runId, key, status }): Finding[] => {
      const committedAt = new Map((turnsOf.get(runId) ?? []).map(({ turn, committedAt: at }) => [turn, at ?? 0]));
      const last = Math.max(0, ...committedAt.keys());
      return (questions.get(key ?? '') ?? []).flatMap(({ turn, attempt, askedAt }): Finding[] => {
        const awake = lastAwakening(committedAt.get(turn - 1) ?? 0, evidence) ?? 0;
        if (turn === 1 || askedAt <= awake) return [];
        const which = `turn ${turn} was asked for (attempt ${attempt})`;
        if (hasSucceeded(status as RunStatus) && turn > last) {
          return [{ subject: runId, message: `${which}, the last one was ${last}` }];
        }
        const early = (overAt.get(`${runId} ${turn - 1}`) ?? 0) - askedAt;
        if (early <= 0) return [];
        return [{ subject: runId, message: `${which} ${early.toFixed(0)} ms before the turn before it was over` }];
      });
    });
  },
};

/** When the reply of a turn was committed and the last of its calls was done. */
function endsOfTurns({ turns, toolCalls }: Evidence): Map<string, number> {
  const ends = new Map<string, number>();
  const note = (runId: string, turn: number, at: number): void => {
    const name = `${runId} ${turn}`;
    ends.set(name, Math.max(at, ends.get(name) ?? 0));
  };
  for (const { runId, turn, committedAt } of turns) note(runId, turn, committedAt ?? 0);
  for (const { runId, turn, endedAt } of toolCalls) note(runId, turn, endedAt ?? 0);
  return ends;
}
