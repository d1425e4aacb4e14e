/** How figures and names are written, the same in every report. */
import type { PeerDescription } from '../peer-catalog';
import { PEERS } from '../peer-catalog';
import type { Sample } from '../statistics';
import type { ResultRow, TargetResult } from './result';

/** Three significant digits, and no decimals from a hundred on. */
export function figure(value: number): string {
  const size = Math.abs(value);
  if (size >= 100 || Number.isInteger(value)) return Math.round(value).toLocaleString('en-US');
  if (size >= 10) return value.toFixed(1);
  return size >= 0.1 || size === 0 ? value.toFixed(2) : value.toPrecision(2);
}

/** The median, with the extremes where there are any. */
export function spread({ values, median, minimum, maximum }: Sample): string {
  return values.length === 1 ? figure(median) : `${figure(median)} (${figure(minimum)}–${figure(maximum)})`;
}

export function peerTitle(name: string): string {
  return peerDescription(name)?.title ?? name;
}

export function peerDescription(name: string): PeerDescription | undefined {
  return Object.entries(PEERS).find(([known]) => known === name)?.[1];
}

/** Names of all peers in the order in which rows mention them. */
export function peersOf(rows: readonly Pick<ResultRow, 'peers'>[]): string[] {
  return [...new Set(rows.flatMap((row) => Object.keys(row.peers)))];
}

export function targetText(row: Pick<ResultRow, 'better' | 'unit'>, target: TargetResult): string {
  const bound = row.better === 'lower' ? 'at most' : 'at least';
  const unit = target.peer === undefined ? ` ${row.unit}` : ` x ${peerTitle(target.peer)}`;
  const aim = target.aim === undefined ? '' : `, aim ${target.aim} ${target.aimMet === true ? 'met' : 'not met'}`;
  return `${bound} ${target.limit}${unit}: ${target.met ? 'met' : 'not met'}${aim}`;
}
