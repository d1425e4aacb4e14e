/** Runs that wait, for their time or for their user, and what it takes to go on with one of very many. */
export { addWaiting, countWaiting, together } from './crowd';
export type { WaitingKind, WaitingRun } from './crowd';
export { becomeDue, cancel, resume } from './wake';
export type { Woken } from './wake';
