/**
 * What a run does with a model's reply beyond taking it: limits and guards. Pure, so that an attempt that is repeated
 * decides the same; what is to be stored goes back to the caller.
 */
export { budgetHint, exceededBudget } from './token-budget';
export type { TokenBudget, TokensUsed } from './token-budget';
export { judgeReply } from './judge-reply';
export type { PolicyRecord } from './judge-reply';
export { afterToolResult, recoveryHint, wasRecovered, RECOVERED_MARK } from './terminal-response';
