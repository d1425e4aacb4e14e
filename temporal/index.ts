/**
 * How processes reach the Temporal server: the connection, and run workflows by the names in `contracts/`. Used by the
 * API and by activities; holds no logic of its own.
 */
export { openTemporal } from './connection';
export type { TemporalAccess, TemporalOptions } from './connection';
export { boundedGateway, createRunGateway } from './run-gateway';
export type { RunGateway, RunToStart, WorkflowState } from './run-gateway';
