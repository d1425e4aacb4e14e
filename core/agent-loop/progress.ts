import type { NextMove, RunProgress } from '../../contracts';

/**
 * Steps of a run. One step is one model call or one tool phase; a run may take as many as its limit says, and ends with
 * an error when it would need one more.
 */
export function takeStep(progress: RunProgress): RunProgress {
  if (progress.next.kind === 'end') return progress;
  if (progress.stepsTaken >= progress.stepLimit) {
    return { ...progress, next: { kind: 'end', outcome: { kind: 'step_limit', limit: progress.stepLimit } } };
  }
  return { ...progress, stepsTaken: progress.stepsTaken + 1 };
}

/** After a model reply: what its activity decided, in a turn that is over. */
export function afterModel(progress: RunProgress, next: NextMove): RunProgress {
  return { ...progress, turn: progress.turn + 1, next };
}

/** After a tool phase: the model again, unless the request asked to stop there. */
export function afterTools(progress: RunProgress): RunProgress {
  const next: NextMove = progress.stopAfterTools
    ? { kind: 'end', outcome: { kind: 'breakpoint', next: ['model'] } }
    : { kind: 'model' };
  return { ...progress, next };
}

/** The limit a run gets: its own wish or the default, under the ceiling. */
export function stepLimit(wish: unknown, fallback: number, ceiling: number): number {
  const valid = typeof wish === 'number' && Number.isInteger(wish) && wish > 0;
  return Math.min(valid ? wish : fallback, ceiling);
}
