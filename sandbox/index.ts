/**
 * Everything that touches files or starts processes for an agent. Callers see virtual paths only. This folder must not
 * know tools, runs or the database.
 */
export { auditCommand, auditLogCommand, type AuditVerdict } from './command-audit';
export { createSandboxProvider } from './create-provider';
export { createLocalSandboxProvider, type LocalSandboxProviderOptions } from './local/local-provider';
export type { SandboxLog } from './log';
export { createSafeHttp, type SafeHttp, type SafeHttpResponse } from './network/safe-fetch';
export { RESERVED_NAMES, createThreadPaths, normaliseOwner, type ThreadDirectories, type ThreadPaths } from './paths';
export { LIST_DIRECTORY_LIMIT } from './sandbox';
export type {
  CommandOptions,
  GlobOptions,
  GrepMatch,
  GrepOptions,
  OperationOptions,
  Sandbox,
  SandboxProvider,
  SandboxScope,
  WriteOptions,
} from './sandbox';
export { OUTPUTS_ROOT, isWithin, normaliseVirtualPath } from './virtual-paths';
