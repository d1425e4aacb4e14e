/** The built-in demo model: answers without a provider while no model is configured. */
export { startDemoModel } from './server';
export type { DemoModel, DemoModelOptions } from './server';
