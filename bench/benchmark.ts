/** What a benchmark is: it measures the product, and peers that do the same work, in turns within each repeat. */
import type { Peer, PeerOptions } from './peer';
import type { Referee } from './referee';
import type { Servers, ServersOptions } from './servers';
import type { Sample } from './statistics';
import type { System, SystemOptions } from './system';

export const BENCHMARK_NAMES = ['B1', 'B2', 'B3', 'B4', 'B5', 'B6', 'B7', 'B9', 'ADMISSION', 'CONFIG'] as const;

export type BenchmarkName = (typeof BENCHMARK_NAMES)[number];

export interface Benchmark {
  name: BenchmarkName;
  title: string;
  /** What is measured and how, for a reader of the results: one or two sentences. */
  about: string;
  run(context: BenchContext): Promise<Row[]>;
}

/** One metric, of the product and of the peers that have it. Every sample holds one value per repeat. */
export interface Row {
  metric: string;
  unit: string;
  better: 'lower' | 'higher';
  product: Sample;
  /** By the names of `bench/peer-catalog.ts`. Empty where the product stands alone. */
  peers: Record<string, Sample>;
  targets?: Target[];
}

/** The limit that the median must keep: a ratio to the peer where one is named, else a value in the row's unit. */
export interface Target {
  peer?: string;
  limit: number;
  /** What we would like to reach. */
  aim?: number;
}

export interface BenchContext {
  repeats: number;
  /** Smaller sizes and one repeat, for development: the figures mean nothing. */
  quick: boolean;
  /** Workers that B5 kills, in all. */
  kills: number;
  /** Aborted on Ctrl-C. Whatever the context started is stopped then anyway. */
  signal: AbortSignal;
  /** A line of progress, on standard error. */
  log(line: string): void;
  /** A size that was used, or whatever else a reader of the results must know. Goes into the results. */
  note(line: string): void;
  /**
   * Something happened that must never happen: a lost or repeated event, a repeated model call. The run goes on, the
   * results name it, and the command ends with exit code 1.
   */
  broken(rule: string): void;
  /** Each call starts another; all are stopped after the benchmark. */
  referee(): Promise<Referee>;
  servers(options?: ServersOptions): Promise<Servers>;
  system(options: SystemOptions): Promise<System>;
  peer(options: PeerOptions): Promise<Peer>;
  /** A temporary folder, removed after the benchmark. */
  folder(): Promise<string>;
  /** Called after the benchmark, also when it failed or was stopped; the last one added is called first. */
  onClose(close: () => Promise<void>): void;
}
