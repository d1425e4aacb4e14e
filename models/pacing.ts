/** What all models of one group must agree on. */
import { isDeepStrictEqual } from 'node:util';
import { AppError } from '../contracts';
import type { ModelConfig } from '../contracts/schemas/config';

export const PACE_CONFLICT =
  'Model request admission policy changed or conflicts within a shared group; align settings and restart the Gateway.';

/** @throws AppError `configuration` where another model of its group has another pace. */
export function refuseConflictingPace(entry: ModelConfig, all: readonly ModelConfig[]): void {
  const { request_admission: own } = entry;
  if (!own?.group) return;
  const others = all.map((other) => other.request_admission).filter((pace) => pace?.group === own.group);
  if (others.some((pace) => !isDeepStrictEqual({ ...pace }, { ...own })))
    throw new AppError('configuration', PACE_CONFLICT);
}
