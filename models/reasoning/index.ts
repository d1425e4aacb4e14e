/** From the configuration and a wish to the entry that an adapter sends. Knows what providers call things. */
export { applyReasoning } from './apply-reasoning';
export type { AppliedReasoning } from './apply-reasoning';
