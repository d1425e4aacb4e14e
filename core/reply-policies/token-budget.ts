/** The limit on the tokens of one run. */
import type { Config } from '../../contracts/schemas/config';

export interface TokenTotals {
  input: number;
  output: number;
  total: number;
}

type Budget = Config['token_budget'];

/** Whether one of the limits is reached at which a run is stopped. */
export function isSpent(spent: TokenTotals, budget: Budget): boolean {
  return budget.enabled && usedShare(spent, budget) >= budget.hard_stop_threshold;
}

/** What the model is told when a limit is near; null before that. */
export function budgetWarning(spent: TokenTotals, budget: Budget): string | null {
  if (!budget.enabled) return null;
  const used = usedShare(spent, budget);
  if (used < budget.warn_threshold) return null;
  const percent = Math.min(100, Math.floor(used * 100));
  return `[TOKEN BUDGET WARNING] ${percent}% of the token budget of this run is used. Finish with what you have.`;
}

/** The share of the limit that is used most. */
function usedShare(spent: TokenTotals, budget: Budget): number {
  const shares = [
    spent.total / budget.max_tokens,
    ...(budget.max_input_tokens === null ? [] : [spent.input / budget.max_input_tokens]),
    ...(budget.max_output_tokens === null ? [] : [spent.output / budget.max_output_tokens]),
  ];
  return Math.max(...shares);
}
