import { execFileSync } from 'node:child_process';
import { mkdtemp, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { configSchema, type Config } from '../../../contracts/schemas/config';
import { createLocalSandboxProvider, createThreadPaths, type Sandbox, type SandboxProvider } from '../../../sandbox';
import type { SandboxLog } from '../../../sandbox';
import type { ThreadDirectories } from '../../../sandbox';

export interface SandboxFixture {
  home: string;
  provider: SandboxProvider;
  sandbox: Sandbox;
  directories: ThreadDirectories;
  config: Config;
  close(): Promise<void>;
}

export interface FixtureOptions {
  sandbox?: Record<string, unknown>;
  config?: Record<string, unknown>;
  environment?: Record<string, string | undefined>;
  log?: SandboxLog;
  home?: string;
}

export function testConfig(options: FixtureOptions = {}): Config {
  return configSchema.parse({ ...options.config, sandbox: options.sandbox ?? {} });
}

export async function temporaryDirectory(prefix = 'sandbox-test-'): Promise<string> {
  return realpath(await mkdtemp(join(tmpdir(), prefix)));
}

/** A real sandbox in a temporary runtime home. */
export async function createFixture(options: FixtureOptions = {}): Promise<SandboxFixture> {
  const home = options.home ?? (await temporaryDirectory());
  const config = testConfig(options);
  const provider = createLocalSandboxProvider({ home, config, environment: options.environment, log: options.log });
  const scope = { owner: 'alice', threadId: 'thread-1' };
  return {
    home,
    provider,
    config,
    sandbox: await provider.acquire(scope),
    directories: createThreadPaths({ home }).directories(scope.owner, scope.threadId),
    async close() {
      await provider.shutdown();
      // Tens of thousands of files are removed much faster by `rm` than by Node.
      execFileSync('rm', ['-rf', home]);
    },
  };
}

/** The message of the error that a promise is rejected with. */
export async function failure(promise: Promise<unknown>): Promise<Error & { code?: string }> {
  return promise.then(
    () => {
      throw new Error('expected a failure');
    },
    (error: Error & { code?: string }) => error,
  );
}

export const never = new AbortController().signal;
