export { applyReasoning } from './apply-reasoning';
export type { ReasoningAdjustment, ReasoningWish } from './apply-reasoning';
