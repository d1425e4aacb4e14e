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

/** A quantity that only grows, such as what is stored, as it was when so many turns were over. */
export interface Reading {
  turn: number;
  value: number;
}

/** What a turn of the window added, on average, where the quantity is known only at some turns. */
export function growthPerTurn(readings: readonly Reading[], { from, to }: Window): number {
  return (valueAt(readings, to) - valueAt(readings, from)) / (to - from);
}

function valueAt(readings: readonly Reading[], turn: number): number {
  const before = readings.findLast((reading) => reading.turn <= turn);
  const after = readings.find((reading) => reading.turn >= turn);
  if (before === undefined || after === undefined) {
    const nearest = before ?? after;
    if (nearest === undefined) throw new RangeError('There is no reading.');
    return nearest.value;
  }
  if (after.turn === before.turn) return before.value;
  return before.value + ((after.value - before.value) * (turn - before.turn)) / (after.turn - before.turn);
}
