/** What a benchmark is given, and the end of everything that it started. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BenchContext } from './benchmark';
import { startPeer } from './peer';
import { startReferee } from './referee';
import { startServers } from './servers';
import type { Servers } from './servers';
import { startSystem } from './system';

export interface ContextOptions {
  repeats: number;
  quick: boolean;
  kills: number;
  signal: AbortSignal;
  log(line: string): void;
}

export interface OwnedContext extends BenchContext {
  readonly notes: readonly string[];
  readonly brokenRules: readonly string[];
  /** Versions of the servers that ran. */
  serverVersions(): Record<string, string>;
  close(): Promise<void>;
}

export function createContext(options: ContextOptions): OwnedContext {
  const closers: Array<() => Promise<void>> = [];
  const notes: string[] = [];
  const brokenRules: string[] = [];
  let versions: Servers['versions'] | undefined;

  const keep = async <T extends { close(): Promise<void> }>(starting: Promise<T>): Promise<T> => {
    const resource = await starting;
    let closing: Promise<void> | undefined;
    const close = resource.close.bind(resource);
    // A benchmark may end a thing earlier than its context does.
    resource.close = () => (closing ??= close());
    closers.push(() => resource.close());
    options.signal.throwIfAborted();
    return resource;
  };
  return {
    ...options,
    notes,
    brokenRules,
    note: (line) => void notes.push(line),
    broken: (rule) => {
      brokenRules.push(rule);
      options.log(`BROKEN: ${rule}`);
    },
    referee: () => keep(startReferee()),
    async servers(serversOptions) {
      const servers = await keep(startServers(serversOptions));
      versions = servers.versions;
      return servers;
    },
    system: (systemOptions) => keep(startSystem(systemOptions)),
    peer: (peerOptions) => keep(startPeer(peerOptions)),
    async folder() {
      const folder = await mkdtemp(join(tmpdir(), 'deer-flow-bench-'));
      closers.push(() => rm(folder, { recursive: true, force: true }));
      return folder;
    },
    onClose: (close) => void closers.push(close),
    serverVersions(): Record<string, string> {
      return versions === undefined ? {} : { PostgreSQL: versions.postgres, 'Temporal server': versions.temporal };
    },
    async close() {
      for (const close of closers.splice(0).reverse()) {
        await close().catch((error: unknown) => options.log(`could not clean up: ${String(error)}`));
      }
    },
  };
}
