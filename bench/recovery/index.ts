/** Workers that are killed among runs in flight: how soon the runs go on, and whether anything is lost or repeated. */
export { evidenceOf } from './evidence';
export { startFlow } from './flow';
export type { Flow, RunInFlight } from './flow';
export { killWorker } from './kill';
export type { KillOutcome, Recovery } from './kill';
export { quickPlan, slowPlan } from './plans';
export type { RecoveryPlan } from './plans';
export { faultsOf } from './soundness';
export type { Effect, RunEvidence } from './soundness';
export type { Phase } from './whereabouts';
