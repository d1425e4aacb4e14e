/**
 * Workflows. Everything in this folder runs in the workflow sandbox: no I/O, no clock but the sandbox's, no Node
 * modules. Workflows orchestrate; deciding is in `core/`, doing is in `activities/`.
 */
export { agentRun } from './agent-run';
export { measureSteps } from './measure-steps';
export { reconcile } from './reconcile';
