/** Models that administrators register: what they may do with them, and the configuration that includes them. */
import { createRequire } from 'node:module';
import { createCredentialCipher } from '../../config';
import type { Environment } from '../../config';
import type { Config } from '../../contracts/schemas/config';
import { MANAGED_MODELS_CHANNEL } from '../../db';
import type { Listener, Stores } from '../../db';
import { createManagedModelSource, withManagedModels } from '../../models/managed';
import type * as probeModule from '../../models/managed/probe';
import type { Logger } from '../../observability';
import type { ManagedModelAccess } from '../dependencies';
import { createManagedModelCatalogue } from './catalogue';

const load = createRequire(__filename);

export interface ManagedModelsOptions {
  environment: Pick<Environment, 'home' | 'credentialKeys'>;
  stores: Pick<Stores, 'managedModels'>;
  /** Listens to the catalogue's channel: another process may change it. */
  listener: Listener;
  /** The configuration as the file has it. */
  fileConfig: () => Config;
  log: Logger;
}

export interface ManagedModels extends ManagedModelAccess {
  /** The configuration as it is now, with managed models behind those of the file. */
  config(): Config;
  close(): void;
}

/** Ready once the catalogue was looked at; one that cannot be read stops nothing but its own routes. */
export async function createManagedModels(options: ManagedModelsOptions): Promise<ManagedModels> {
  const { environment, stores, listener, fileConfig, log } = options;
  const { home, credentialKeys } = environment;
  const catalogue = createManagedModelCatalogue({
    store: stores.managedModels,
    cipher: createCredentialCipher({ keys: credentialKeys, home }),
    home,
    fileConfig,
    probe(record, signal) {
      // The providers' libraries take their memory, and most API processes never need them.
      const { probeManagedModel } = load('../../models/managed/probe') as typeof probeModule;
      return probeManagedModel({ record, config: fileConfig(), log, signal });
    },
    changed: () => source.refresh(),
  });
  const source = createManagedModelSource({
    load: () => catalogue.records(),
    subscribe: (onNotification) => listener.subscribe(onNotification, MANAGED_MODELS_CHANNEL),
    log,
  });
  await source.refresh();

  let merged = mergeNow();
  function mergeNow() {
    const [from, managed] = [fileConfig(), source.current()];
    return { from, managed, config: withManagedModels(from, managed) };
  }
  return {
    catalogue,
    fileConfig,
    config() {
      if (merged.from !== fileConfig() || merged.managed !== source.current()) merged = mergeNow();
      return merged.config;
    },
    close: () => source.close(),
  };
}
