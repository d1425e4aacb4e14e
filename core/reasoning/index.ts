/** What models can do in the way of reasoning, and what becomes of a wish. Pure; knows no provider's wire. */
export { EFFORT_KEY, mapping, reasoningContract } from './contract';
export type { ReasoningContract, ReasoningDialect, ReasoningEntry, ThinkingMode } from './contract';
export { fitWish, runWish } from './fit-wish';
export type { ReasoningAdjustment, ReasoningWish } from './fit-wish';
