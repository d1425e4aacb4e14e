/** Whether a reader got everything once and in order. Pure. */
import type { ReaderReport } from './protocol';

export interface Expected {
  /** Numbers of all events that the reader asked for, in order. */
  numbers: readonly number[];
  /** How many tokens the referee sent, numbered from 1. */
  tokens: number;
}

/** What is wrong with what a reader got; null where it lost nothing and got nothing twice. */
export function readerFault(report: ReaderReport, expected: Expected): string | null {
  const tokens = Array.from({ length: expected.tokens }, (_, index) => index + 1);
  return (
    sequenceFault('event', report.numbers, expected.numbers) ??
    sequenceFault('token', report.tokens, tokens) ??
    (report.ended ? null : 'the stream did not end')
  );
}

function sequenceFault(what: string, got: readonly number[], expected: readonly number[]): string | null {
  const place = expected.findIndex((number, index) => got[index] !== number);
  const at = place < 0 ? expected.length : place;
  if (place < 0 && got.length === expected.length) return null;
  const [found, before] = [got[at], got[at - 1]];
  if (found === undefined) return `${what} ${expected[at]} was lost: nothing came after ${before ?? 'the beginning'}`;
  if (before !== undefined && found <= before) return `${what} ${found} came again after ${before}`;
  if (expected[at] === undefined) return `${what} ${found} came after the last`;
  return `${what} ${expected[at]} was lost: ${found} came after ${before ?? 'the beginning'}`;
}
