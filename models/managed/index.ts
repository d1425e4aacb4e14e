/**
 * Models that an administrator registers over the API: where their providers are, what a record becomes, and the list
 * that a process offers. The probe is apart, in `probe.ts`: it alone needs the providers' libraries.
 */
export { withManagedModels } from './merge';
export { PRESETS } from './presets';
export { openRecords, parsed, sealRecord, unreadable } from './records';
export { createManagedModelSource } from './source';
export type { ManagedModelSource } from './source';
