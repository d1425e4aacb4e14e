import type { Config } from '../../contracts/schemas/config';
import type { ChatModelFactory } from '../factory';
import { withManagedModels } from './merge';
import type { ManagedModelSource } from './source';

export interface ManagedModelFactoryOptions {
  config: Config;
  source: Pick<ManagedModelSource, 'current'>;
  create: (config: Config) => ChatModelFactory;
}

/** Models of a configuration and those managed beside it: made anew when the latter change. */
export function createManagedModelFactory({ config, source, create }: ManagedModelFactoryOptions): ChatModelFactory {
  let managed = source.current();
  let factory = create(withManagedModels(config, managed));
  function newest(): ChatModelFactory {
    if (source.current() !== managed) {
      managed = source.current();
      factory = create(withManagedModels(config, managed));
    }
    return factory;
  }
  return { names: () => newest().names(), resolve: (name, wish) => newest().resolve(name, wish) };
}
