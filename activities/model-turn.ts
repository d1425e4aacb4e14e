import type { Message, NextMove, UsageMetadata } from '../contracts';
import type { StepFacts } from '../db';

/** One turn of the model, as the parts of its activity share it. */
export interface ModelTurn {
  runId: string;
  turn: number;
  step: number;
  facts: StepFacts;
  messages: readonly Message[];
  startedAt: number;
  signal: AbortSignal;
}

/** Name of the step, as clients know it. */
export const MODEL_NODE = 'model';

/** The nodes that a checkpoint says are next. */
export function waitingAfter(next: NextMove): string[] {
  if (next.kind !== 'end') return [next.kind];
  return next.outcome.kind === 'breakpoint' ? next.outcome.next : [];
}

/** The tokens of a run after one more reply; providers that do not count send no usage. */
export function usedWith(used: StepFacts['used'], usage: UsageMetadata | null): StepFacts['used'] {
  if (usage === null) return used;
  return {
    input: used.input + usage.input_tokens,
    output: used.output + usage.output_tokens,
    total: used.total + usage.total_tokens,
  };
}
