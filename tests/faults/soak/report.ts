import type { Violation } from '../checker';
import type { Comparison, Window } from './flatness';
import { compareAtEqualAges, compareWhileOld, isFlat } from './flatness';
import type { ConnectionSample, Sample } from './samples';

export interface Measured {
  samples: readonly Sample[];
  connections: readonly ConnectionSample[];
  /** The stretch with restarts, and the one after it. */
  restarts: Window;
  steady: Window;
  /** Connections that each application may have. */
  limits: Readonly<Record<string, number>>;
}

const DYING_MS = 5_000;

/** Of these the memory is judged; the servers are not ours, and their caches grow on purpose. */
const JUDGED: readonly string[] = ['worker', 'api'];
const KINDS: readonly string[] = [...JUDGED, 'postgres', 'temporal'];

export function measure(measured: Measured): { table: string; violations: Violation[] } {
  const { samples, connections, restarts, steady, limits } = measured;
  const comparisons = KINDS.flatMap((kind) =>
    [compareAtEqualAges(samples, kind, restarts), compareWhileOld(samples, kind, steady)].filter((one) => one !== null),
  );
  const growing = comparisons.filter((one) => JUDGED.includes(one.kind) && !isFlat(one));
  const most = mostConnections(connections);
  // The server needs a moment to notice that a process was killed: only what lives counts.
  const calm = mostConnections(connections.filter(({ at }) => at >= steady.from + DYING_MS));
  const tooMany = [...calm].filter(([application, count]) => count > (limits[application] ?? Infinity));
  return {
    table: [...memoryTable(samples, comparisons), '', ...connectionTable(connections, most, steady)].join('\n'),
    violations: [
      ...growing.map(({ kind, stretch, early, late }) => ({
        rule: 'flat-memory',
        subject: kind,
        message: `${stretch}: ${early.toFixed(0)} MB early, ${late.toFixed(0)} MB at the end`,
      })),
      ...tooMany.map(([application, count]) => ({
        rule: 'flat-connections',
        subject: application,
        message: `${count} connections at once, of at most ${limits[application]}`,
      })),
    ],
  };
}

function mostConnections(connections: readonly ConnectionSample[]): Map<string, number> {
  const most = new Map<string, number>();
  for (const { application, count } of connections) most.set(application, Math.max(count, most.get(application) ?? 0));
  return most;
}

function memoryTable(samples: readonly Sample[], comparisons: readonly Comparison[]): string[] {
  const rows = KINDS.map((kind) => {
    const ofKind = samples.filter((sample) => sample.kind === kind);
    const of = (stretch: Comparison['stretch']): string => {
      const found = comparisons.find((one) => one.kind === kind && one.stretch === stretch);
      return found === undefined ? 'too few' : `${found.early.toFixed(0)} -> ${found.late.toFixed(0)}`;
    };
    const highest = (pick: (sample: Sample) => number): string => Math.max(0, ...ofKind.map(pick)).toFixed(0);
    return [
      kind,
      String(ofKind.length),
      of('with restarts'),
      of('without restarts'),
      highest(({ megabytes }) => megabytes),
      highest(({ files }) => files),
    ];
  });
  return alignColumns([
    ['memory in MB', 'samples', 'equal ages: early -> late', 'no restarts: early -> late', 'most', 'most files'],
    ...rows,
  ]);
}

function connectionTable(
  connections: readonly ConnectionSample[],
  most: ReadonlyMap<string, number>,
  steady: Window,
): string[] {
  const rows = [...most].map(([application, count]) => {
    const counts = connections
      .filter((one) => one.application === application && one.at >= steady.from && one.at < steady.to)
      .map((one) => one.count);
    const mean = counts.reduce((sum, one) => sum + one, 0) / Math.max(1, counts.length);
    return [application, String(count), mean.toFixed(1), String(lastCount(connections, application))];
  });
  return alignColumns([['connections', 'most', 'mean without restarts', 'at rest'], ...rows]);
}

/** In the last sample of all; an application that is missing there has none. */
function lastCount(connections: readonly ConnectionSample[], application: string): number {
  const last = connections.at(-1)?.at;
  return connections.find((one) => one.at === last && one.application === application)?.count ?? 0;
}

export function alignColumns(rows: ReadonlyArray<readonly string[]>): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}
