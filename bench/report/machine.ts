/** Where and with what the benchmarks ran. */
import { existsSync, readFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import type { PeerDescription } from '../peer-catalog';
import { PEERS } from '../peer-catalog';
import type { Machine } from './result';

export function thisMachine(): Machine {
  const processors = cpus();
  return {
    processor: processors[0]?.model.trim() ?? 'unknown',
    cores: processors.length,
    memoryGiB: Math.round((totalmem() / 2 ** 30) * 10) / 10,
    system: `${type()} ${release()}`,
  };
}

/** Versions of the product, of what it runs on, and of the peers named. */
export function versionsOf(root: string, peers: readonly string[]): Record<string, string> {
  const descriptions: PeerDescription[] = Object.entries(PEERS).flatMap(([name, peer]) =>
    peers.includes(name) ? [peer] : [],
  );
  const packages = [...new Set(['@temporalio/worker', ...descriptions.map((peer) => peer.package)])];
  return {
    product: manifestVersion(join(root, 'package.json')),
    'Node.js': process.versions.node,
    ...Object.fromEntries(packages.map((name) => [name, installedVersion(root, name)])),
  };
}

function installedVersion(root: string, name: string): string {
  const places = [join(root, 'bench', 'node_modules', name), join(root, 'node_modules', name)];
  const found = places.map((place) => join(place, 'package.json')).find(existsSync);
  return found === undefined ? 'unknown' : manifestVersion(found);
}

function manifestVersion(path: string): string {
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
}
