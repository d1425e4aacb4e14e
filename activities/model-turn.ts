import type { Message } from '../contracts';
import type { StepFacts } from '../db';
import type { RunSetup } from './run-setups';

/** One turn of the model, as the parts of its activity share it. */
export interface ModelTurn {
  runId: string;
  turn: number;
  step: number;
  facts: StepFacts;
  setup: RunSetup;
  messages: readonly Message[];
  startedAt: number;
  signal: AbortSignal;
}

/** Name of the step, as clients know it. */
export const MODEL_NODE = 'model';
