/** All scenarios of the fault suite. */
import { scenariosAtPoints } from './at-points';
import type { Scenario } from './scenario';

export type { Scenario, ScenarioContext } from './scenario';

export const scenarios: readonly Scenario[] = [...scenariosAtPoints];
