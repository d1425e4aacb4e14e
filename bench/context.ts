/** What a benchmark is given, and the end of everything that it started. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BenchContext } from './benchmark';
import { createOwner } from './owner';
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
  const owner = createOwner(options);
  const notes: string[] = [];
  const brokenRules: string[] = [];
  let versions: Servers['versions'] | undefined;

  return {
    ...options,
    notes,
    brokenRules,
    note: (line) => void notes.push(line),
    broken: (rule) => {
      brokenRules.push(rule);
      options.log(`BROKEN: ${rule}`);
    },
    referee: () => owner.keep(startReferee()),
    async servers(serversOptions) {
      const servers = await owner.keep(startServers(serversOptions));
      versions = servers.versions;
      return servers;
    },
    system: (systemOptions) => owner.keep(startSystem(systemOptions)),
    peer: (peerOptions) => owner.keep(startPeer(peerOptions)),
    async folder() {
      const folder = await mkdtemp(join(tmpdir(), 'deer-flow-bench-'));
      owner.onClose(() => rm(folder, { recursive: true, force: true }));
      return folder;
    },
    onClose: owner.onClose,
    serverVersions(): Record<string, string> {
      return versions === undefined ? {} : { PostgreSQL: versions.postgres, 'Temporal server': versions.temporal };
    },
    close: owner.close,
  };
}
