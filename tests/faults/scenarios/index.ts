/** All scenarios of the fault suite. */
import { scenariosAtPoints } from './at-points';
import {
  cancelsDuringOutage,
  cancelsDuringSlowSteps,
  cancelsOnSlowLines,
  killedInCancelledStep,
  lostInTransaction,
} from './cancels';
import { clockJumps } from './clock';
import { diskFull } from './disk';
import { scenariosOnLines } from './lines';
import { scenariosOfProcesses } from './processes';
import type { Scenario } from './scenario';
import { scenariosOfServers } from './servers';
import { versionsSideBySide } from './versions';

export type { Scenario, ScenarioContext } from './scenario';

/** @param oldVersion a git revision; null for the one before the newest that changed what workers do. */
export function createScenarios({ oldVersion }: { oldVersion: string | null }): readonly Scenario[] {
  return [
    ...scenariosAtPoints,
    ...scenariosOnLines,
    ...scenariosOfProcesses,
    clockJumps,
    cancelsDuringOutage,
    cancelsDuringSlowSteps,
    cancelsOnSlowLines,
    killedInCancelledStep,
    lostInTransaction,
    ...scenariosOfServers,
    diskFull,
    versionsSideBySide(oldVersion),
  ];
}

/** The scenarios of the short set. */
export function isShort({ long }: Scenario): boolean {
  return long !== true;
}
