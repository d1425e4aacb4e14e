/**
 * Postgres: the pool, the migrations, one store per aggregate. Queries name the owner wherever a user asks. No decision
 * about agents is made here; what must be atomic is.
 */
export { createDatabase } from './database';
export type { Database, DatabaseOptions } from './database';
export { isDatabaseUnavailable } from './errors';
export type { JournalMessageRow, JournalRow, JournalStore, MessageQuery } from './journal';
export { createListener } from './listener';
export type { Listener } from './listener';
export { MANAGED_MODELS_CHANNEL } from './managed-models';
export type { ManagedModelRow, ManagedModelStore } from './managed-models';
export type {
  CheckpointInput,
  CheckpointRow,
  CommitResult,
  JournalInput,
  LogMessage,
  MessageLog,
  PlannedToolCall,
  SideUsage,
  StepCommit,
  ThreadState,
} from './message-log';
export { createModelPermitStore } from './model-permits';
export type { Circuit, ModelPermitStore, Pace, Turn } from './model-permits';
export { migrate } from './migrate';
export type { AdmissionRequest, AdmissionResult } from './run-admission';
export type { EndedRun, LeftUndone, RunEnding } from './run-ending';
export type { RunConfigurationStore } from './run-configurations';
export type { RunEventStore } from './run-events';
export { toRunRecord } from './run-row';
export type { RunRow } from './run-row';
export type { RunSecretStore } from './run-secrets';
export type { RunStore } from './runs';
export { createStores } from './stores';
export type { Stores } from './stores';
export type { ThreadCopy } from './thread-copy';
export type { ThreadRow, ThreadSearch, ThreadStore } from './threads';
export type { TokenTotals } from './token-totals';
export type { CallKey, LedgerEntry, PlannedCall, ToolLedger, WritePlanRow } from './tool-ledger';
export type { MessageChange, StepFacts, TurnStore } from './turns';
