/** Works what a request wants of a model's reasoning into the model's entry. Pure. */
import type { ModelConfig } from '../../contracts/schemas/config';

/** What the caller of a model asks for; null leaves it to the model. */
export interface ReasoningWish {
  thinking: boolean | null;
  effort: string | null;
}

/** How the wish had to be changed to fit the model. */
export type ReasoningAdjustment =
  'thinking_unsupported' | 'thinking_forced_on' | 'effort_unsupported' | 'effort_aliased' | 'effort_unsupported_value';

export interface AppliedReasoning {
  entry: ModelConfig;
  adjustments: ReasoningAdjustment[];
}

/** @throws AppError `configuration` where the entry rules out what is wanted. */
export function applyReasoning(entry: ModelConfig, _wish: ReasoningWish): AppliedReasoning {
  return { entry, adjustments: [] };
}
