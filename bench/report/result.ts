/** The results of one benchmark as they are kept: everything that tables and plots are made from. */
import type { BenchmarkName, Row, Target } from '../benchmark';
import { ratioOf } from '../statistics';
import type { Sample } from '../statistics';

export interface Result {
  name: BenchmarkName;
  title: string;
  about: string;
  /** ISO 8601, UTC. */
  date: string;
  machine: Machine;
  versions: Record<string, string>;
  repeats: number;
  quick: boolean;
  /** Sizes and whatever else the benchmark had to say. */
  notes: string[];
  /** Rules that must always hold and did not. */
  broken: string[];
  rows: ResultRow[];
}

export interface Machine {
  processor: string;
  cores: number;
  memoryGiB: number;
  system: string;
}

export interface ResultRow {
  metric: string;
  unit: string;
  better: Row['better'];
  product: Sample;
  peers: Record<string, Sample>;
  /** Product to peer. */
  ratios: Record<string, Sample>;
  targets: TargetResult[];
}

export interface TargetResult extends Target {
  met: boolean;
  /** Null where there is no aim. */
  aimMet: boolean | null;
}

export function resultRow(row: Row): ResultRow {
  const { metric, unit, better, product, peers } = row;
  const ratios = Object.fromEntries(Object.entries(peers).map(([name, peer]) => [name, ratioOf(product, peer)]));
  const targets = (row.targets ?? []).map((target): TargetResult => {
    const measured = target.peer === undefined ? product : ratios[target.peer];
    if (measured === undefined) throw new Error(`"${metric}" has a target for "${target.peer}", which did not run.`);
    const keeps = (limit: number) => (better === 'lower' ? measured.median <= limit : measured.median >= limit);
    return { ...target, met: keeps(target.limit), aimMet: target.aim === undefined ? null : keeps(target.aim) };
  });
  return { metric, unit, better, product, peers, ratios, targets };
}
