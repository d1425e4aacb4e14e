/** What a long run's turns say about each other. Pure. */
import { percentile } from '../statistics';

/** When each turn's reply was committed, in milliseconds; the first is the first turn's. */
export type CommitTimes = readonly number[];

/** Turns from one up to, not including, another. The first turn is 1. */
export interface Window {
  from: number;
  to: number;
}

/** The median time of a turn of the window, from the reply of the turn before to its own. */
export function medianMsPerTurn(commits: CommitTimes, { from, to }: Window): number {
  const times: number[] = [];
  for (let turn = Math.max(from, 2); turn < to; turn += 1) {
    const [before, own] = [commits[turn - 2], commits[turn - 1]];
    if (before !== undefined && own !== undefined) times.push(own - before);
  }
  return percentile(times, 50);
}

/** How much was stored when so many turns were over. */
export interface StoredAt {
  turn: number;
  bytes: number;
}

/** Bytes that a turn of the window added, on average, where the sizes are known only at some turns. */
export function storedPerTurn(sizes: readonly StoredAt[], { from, to }: Window): number {
  return (storedAt(sizes, to) - storedAt(sizes, from)) / (to - from);
}

function storedAt(sizes: readonly StoredAt[], turn: number): number {
  const before = sizes.findLast((size) => size.turn <= turn);
  const after = sizes.find((size) => size.turn >= turn);
  if (before === undefined || after === undefined) {
    const nearest = before ?? after;
    if (nearest === undefined) throw new RangeError('No size is known.');
    return nearest.bytes;
  }
  if (after.turn === before.turn) return before.bytes;
  return before.bytes + ((after.bytes - before.bytes) * (turn - before.turn)) / (after.turn - before.turn);
}
