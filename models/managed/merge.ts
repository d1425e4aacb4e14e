import type { ModelConfig } from '../../contracts/schemas/config';
import type { ManagedModelRecord } from '../../contracts/schemas/managed-models';
import { toModelEntry } from './entry';

/** What is offered of the catalogue, in its order. */
export function offeredEntries(records: readonly ManagedModelRecord[]): readonly ModelConfig[] {
  return records.filter(({ enabled }) => enabled).map(toModelEntry);
}

/**
 * The configuration with managed models behind those of the file. A name of the file wins. Pure; where nothing is added
 * the configuration itself comes back.
 */
export function withManagedModels<Configuration extends { readonly models: readonly ModelConfig[] }>(
  config: Configuration,
  managed: readonly ModelConfig[],
): Configuration {
  const taken = new Set(config.models.map(({ name }) => name));
  const added = managed.filter(({ name }) => !taken.has(name));
  return added.length === 0 ? config : { ...config, models: [...config.models, ...added] };
}
