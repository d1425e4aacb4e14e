import type { HumanMessage } from '../../contracts';
import { hint } from './hint';

/** Tokens of one run. */
export interface TokensUsed {
  input: number;
  output: number;
  total: number;
}

/** `token_budget` of the configuration. */
export interface TokenBudget {
  enabled: boolean;
  max_tokens: number;
  max_input_tokens: number | null;
  max_output_tokens: number | null;
  warn_threshold: number;
  hard_stop_threshold: number;
}

interface Side {
  name: string;
  used: number;
  limit: number;
}

/** The side of the budget that is nearest to its end; null where there is no budget. */
function fullestSide(budget: TokenBudget, used: TokensUsed): Side | null {
  if (!budget.enabled) return null;
  const sides: Side[] = [{ name: 'tokens', used: used.total, limit: budget.max_tokens }];
  if (budget.max_input_tokens !== null) {
    sides.push({ name: 'input tokens', used: used.input, limit: budget.max_input_tokens });
  }
  if (budget.max_output_tokens !== null) {
    sides.push({ name: 'output tokens', used: used.output, limit: budget.max_output_tokens });
  }
  return sides.reduce((fullest, side) => (share(side) > share(fullest) ? side : fullest));
}

function share({ used, limit }: Side): number {
  return used / limit;
}

/**
 * What the model is told from the threshold on. It is told with every request, because nothing of it is stored: an
 * attempt that is repeated says the same.
 */
export function budgetHint(budget: TokenBudget, used: TokensUsed): HumanMessage | null {
  const side = fullestSide(budget, used);
  if (side === null || share(side) < budget.warn_threshold) return null;
  const percent = Math.floor(share(side) * 100);
  const text = `[TOKEN BUDGET WARNING] This run has used ${side.used} of ${side.limit} ${side.name} (${percent} %). Finish with what you have, and call only tools that you cannot do without.`;
  return hint('budget_warning', text);
}

/** What a reply is ended with that would go on behind the end of the budget; null while there is some left. */
export function exceededBudget(budget: TokenBudget, used: TokensUsed): string | null {
  const side = fullestSide(budget, used);
  if (side === null || share(side) < budget.hard_stop_threshold) return null;
  return `[TOKEN BUDGET EXCEEDED] This run stops here: it has used ${side.used} of ${side.limit} ${side.name}.`;
}
