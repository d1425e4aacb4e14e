/** The whole product by its one command, seen from outside: for measuring how it starts, rests and stops. */
export { makeFirstRun } from './first-run';
export type { FirstRun } from './first-run';
export { runStackCommand } from './stack-command';
export type { ReadyStack, StackCommand, StackPart } from './stack-command';
