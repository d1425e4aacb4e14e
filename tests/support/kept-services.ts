/** jest loads set-up and teardown as separate module graphs of one process: what they share hangs on that process. */
import type { StartedServices } from './services';

const KEY = Symbol.for('deer-flow.test-services');
const holder = globalThis as { [KEY]?: StartedServices };

export function keepServices(services: StartedServices): void {
  holder[KEY] = services;
}

export function keptServices(): StartedServices | undefined {
  return holder[KEY];
}
