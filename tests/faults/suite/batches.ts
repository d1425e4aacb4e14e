/** Which scenarios run side by side: as many with a victim as there are processes of its kind; others alone. */
import type { SlotKind } from '../cluster/slot';
import type { Scenario } from '../scenarios';

export interface Batch {
  scenarios: Scenario[];
}

const PER_KIND: Readonly<Record<SlotKind, number>> = { worker: 2, api: 2 };

export function batchesOf(scenarios: readonly Scenario[]): Batch[] {
  const waiting = {
    worker: scenarios.filter(({ victim }) => victim === 'worker'),
    api: scenarios.filter(({ victim }) => victim === 'api'),
  };
  const batches: Batch[] = [];
  while (waiting.worker.length + waiting.api.length > 0) {
    batches.push({
      scenarios: [...waiting.worker.splice(0, PER_KIND.worker), ...waiting.api.splice(0, PER_KIND.api)],
    });
  }
  const alone = scenarios.filter(({ victim }) => victim === undefined);
  return [...batches, ...alone.map((scenario) => ({ scenarios: [scenario] }))];
}
