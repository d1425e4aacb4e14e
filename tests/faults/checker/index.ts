/** The checker of the fault suite: collects what a cluster left behind, and says which promises it broke. */
export { check } from './check';
export { collectEvidence } from './collect';
export { DEFAULT_LIMITS, SECRET_TEXT } from './evidence';
export type {
  AcceptedRun,
  Disturbance,
  Evidence,
  EvidenceSource,
  Limits,
  ModelJournalLine,
  SeenFrame,
  SideEffect,
  SubscriberConnection,
  Subscription,
  Violation,
} from './evidence';
