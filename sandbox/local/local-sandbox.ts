/** One thread's sandbox on this host. */
import { isUtf8 } from 'node:buffer';
import { basename, dirname, join } from 'node:path';
import { realpath } from 'node:fs/promises';
import { AppError } from '../../contracts';
import { guardCommand } from '../command-guard';
import { commandEnvironment, redactValues, type Inherited } from '../environment';
import { fileError } from '../file-errors';
import type { KeyedMutex } from '../keyed-mutex';
import { createPathMask, translateCommand, type PathPair } from '../masking';
import type { CommandOptions, OperationOptions, Sandbox } from '../sandbox';
import { resolveVirtualPath, type PathIntent, type PathTable, type ResolvedPath } from '../virtual-paths';
import { commandText } from './command-text';
import type { ProcessRunner } from './process-runner';
import { readWhole, replaceFile, resolveReal } from './safe-files';
import { findLines, findPaths, listEntries } from './search';

export interface LocalSandboxParts {
  id: string;
  table: PathTable;
  /** Host and virtual roots, for commands and for what they print. */
  pairs: readonly PathPair[];
  workspace: string;
  commandsAllowed: boolean;
  /** What the next command inherits. */
  inherited: () => Inherited;
  shell: string;
  processes: ProcessRunner;
  locks: KeyedMutex;
}

export const HOST_BASH_DISABLED =
  'Host bash execution is disabled: the local sandbox does not isolate commands from this machine. ' +
  'Use the file tools, or let the operator choose an isolating sandbox or set sandbox.allow_host_bash.';

export function createLocalSandbox(parts: LocalSandboxParts): Sandbox {
  const { table } = parts;
  const mask = createPathMask(parts.pairs);

  /** Runs an operation on a path and turns what the file system says into words for the model. */
  async function on<T>(
    path: string,
    intent: PathIntent,
    { signal }: OperationOptions,
    action: (target: ResolvedPath) => Promise<T>,
  ): Promise<T> {
    signal?.throwIfAborted();
    try {
      const target = resolveVirtualPath(table, path, intent);
      return await action(target);
    } catch (error) {
      signal?.throwIfAborted();
      const shown = fileError(error, path);
      if (!(shown instanceof AppError)) throw shown;
      throw new AppError(shown.code, mask(shown.message), { cause: error });
    }
  }

  return {
    id: parts.id,

    async executeCommand(command, options) {
      if (!parts.commandsAllowed) throw new AppError('forbidden', HOST_BASH_DISABLED);
      const environment = commandEnvironment(parts.inherited(), options.env ?? {});
      const problem = guardCommand(command, table.roots);
      if (problem !== null) throw new AppError('forbidden', `Unsafe command refused: ${problem}`);
      const result = await parts.processes.run(processRequest(parts, command, environment, options));
      return mask(redactValues(commandText(result, options.timeoutMs), Object.values(options.env ?? {})));
    },

    readFile: (path, options = {}) =>
      on(path, 'read', options, async (target) => {
        const content = await readWhole(target, options.signal);
        if (!isUtf8(content)) throw new AppError('unsupported_media', `Not a UTF-8 text file: ${path}`);
        return content.toString('utf8');
      }),

    readBytes: async (path, options = {}) => {
      try {
        return await on(path, 'read', options, (target) => readWhole(target, options.signal));
      } catch (error) {
        if (error instanceof AppError && error.code === 'not_found') return null;
        throw error;
      }
    },

    writeFile: (path, text, options) =>
      on(path, 'write', options, (target) =>
        replaceFile(target, {
          needsCurrent: options.append,
          content: (current) => Buffer.concat(current ? [current, Buffer.from(text)] : [Buffer.from(text)]),
          expectedSha256: options.expectedSha256,
          signal: options.signal,
        }),
      ),

    resolvePath: async (path, options = {}) => {
      try {
        return await on(path, 'read', options, async (target) =>
          target.host === null ? target.virtual : mask(await resolveReal(target)),
        );
      } catch (error) {
        if (error instanceof AppError && error.code === 'not_found') return null;
        throw error;
      }
    },

    listDirectory: (path, maxDepth, options = {}) =>
      on(path, 'read', options, (target) => listEntries(table, target, maxDepth, options)),

    glob: (path, pattern, options) => on(path, 'read', options, (target) => findPaths(table, target, pattern, options)),

    grep: (path, pattern, options) => on(path, 'read', options, (target) => findLines(table, target, pattern, options)),

    exclusively: async (path, action) => parts.locks.run(await lockKey(parts, path), action),
  };
}

function processRequest(
  parts: LocalSandboxParts,
  command: string,
  environment: Record<string, string>,
  { timeoutMs, signal }: CommandOptions,
) {
  return {
    shell: parts.shell,
    command: translateCommand(command, parts.pairs),
    directory: parts.workspace,
    environment,
    timeoutMs,
    signal,
  };
}

/** Different names of one file share a lock. */
async function lockKey(parts: LocalSandboxParts, path: string): Promise<string> {
  const { virtual, host } = resolveVirtualPath(parts.table, path, 'read');
  if (host === null) return `${parts.id}:${virtual}`;
  const real = await realpath(host).catch(() =>
    realpath(dirname(host)).then(
      (parent) => join(parent, basename(host)),
      () => host,
    ),
  );
  return `${parts.id}:${real}`;
}
