import { createScenarios, isShort } from '../faults/scenarios';
import { runSuite } from '../faults/suite/run-suite';

/** The choices of the scenarios are the same in every run of the tests; `npm run test:faults` takes others. */
const SEED = 20_260_701;

test('processes, lines and PostgreSQL fail in the midst of runs, and no promise of the product is broken', async () => {
  const lines: string[] = [];
  const scenarios = createScenarios({ oldVersion: null }).filter(isShort);
  const { passed, failures } = await runSuite({ scenarios, seed: SEED, print: (line) => lines.push(line) });
  if (failures.length > 0) throw new Error(lines.join('\n'));
  expect(passed).toBe(scenarios.length);
}, 240_000);
