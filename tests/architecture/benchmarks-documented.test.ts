import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { BENCHMARK_NAMES } from '../../bench/benchmark';
import { BENCHMARKS } from '../../bench/benchmarks';
import { PEERS } from '../../bench/peer-catalog';
import type { PeerDescription } from '../../bench/peer-catalog';
import { documentFiles, readResults } from '../../bench/report';
import { ROOT, projectFiles, readProjectFile } from './project';

interface Manifest {
  dependencies: Record<string, string>;
}

const manifestOf = (path: string): Manifest => JSON.parse(readProjectFile(path)) as Manifest;

describe('the benchmarks', () => {
  const results = readResults(ROOT);
  const files = documentFiles(results);

  it.each(Object.keys(files))('%s is what the results in bench/results/ make of it', (path) => {
    expect(existsSync(join(ROOT, path)) ? readProjectFile(path) : 'missing').toBe(files[path]);
  });

  it('have no plot in docs/benchmarks/ without results', () => {
    const plots = projectFiles().filter((path) => path.startsWith('docs/benchmarks/'));
    expect(plots.filter((path) => !(path in files))).toEqual([]);
  });

  it('show no results that mean nothing: none was made with --quick, none broke a rule', () => {
    expect(results.filter(({ quick, broken }) => quick || broken.length > 0).map(({ name }) => name)).toEqual([]);
  });

  it('show only peers that the catalogue describes', () => {
    const shown = results.flatMap(({ rows }) => rows.flatMap((row) => Object.keys(row.peers)));
    expect([...new Set(shown)].filter((name) => !(name in PEERS))).toEqual([]);
  });

  it('are all there, in the order of their names', () => {
    expect(BENCHMARKS.map(({ name }) => name)).toEqual(BENCHMARK_NAMES);
  });
});

describe('the peers of the benchmarks', () => {
  const bench = manifestOf('bench/package.json');
  const product = manifestOf('package.json');

  it('are pinned to one version each, in a lock file that names no registry', () => {
    expect(Object.entries(bench.dependencies).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
    const lock = readProjectFile('bench/package-lock.json');
    expect(lock).toContain('"integrity"');
    expect(lock).not.toContain('"resolved"');
  });

  it('use the versions of the product where both use a package, and are no dependency of the product', () => {
    const shared = Object.keys(bench.dependencies).filter((name) => name in product.dependencies);
    expect(shared).toEqual(['@langchain/core', '@langchain/openai']);
    expect(shared.map((name) => bench.dependencies[name])).toEqual(shared.map((name) => product.dependencies[name]));
  });

  it('have a program each, and a package whose version the results name', () => {
    const peers: PeerDescription[] = Object.values(PEERS);
    const known = new Set(Object.keys({ ...product.dependencies, ...bench.dependencies }));
    expect(peers.filter((peer) => !known.has(peer.package))).toEqual([]);
    expect(peers.filter((peer) => !existsSync(join(ROOT, 'bench', 'peers', peer.program, 'index.ts')))).toEqual([]);
  });
});
