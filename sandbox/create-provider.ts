/** Chooses the provider that `sandbox.use` names. */
import { AppError } from '../contracts';
import { createLocalSandboxProvider, type LocalSandboxProviderOptions } from './local/local-provider';
import type { SandboxProvider } from './sandbox';

const LOCAL_CLASSES = new Set([
  'deerflow.sandbox.local:LocalSandboxProvider',
  'deerflow.sandbox.local.local_sandbox_provider:LocalSandboxProvider',
]);

/** A provider that is not available stops the first use of a sandbox, not the service: most runs need none. */
export function createSandboxProvider(options: LocalSandboxProviderOptions): SandboxProvider {
  const { use } = options.config.sandbox;
  if (LOCAL_CLASSES.has(use)) return createLocalSandboxProvider(options);
  const problem = `The sandbox provider ${use} is not available`;
  options.log?.warn({ key: 'sandbox.use' }, `${problem}: runs that need files or commands will fail`);
  return {
    commandsAllowed: false,
    acquire: () => Promise.reject(new AppError('configuration', problem)),
    shutdown: async () => undefined,
  };
}
