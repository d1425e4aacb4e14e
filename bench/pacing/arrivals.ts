/** What must hold for calls that share one pace, by the clock of the model that got them. Pure. */

export interface PacedCall {
  /** Its number in the order in which the calls began to wait, from 1. */
  number: number;
  /** When the model got it, in milliseconds since the epoch; more than once is a call made twice. */
  arrivedAt: readonly number[];
  /** Whether it waited in a process that was killed: another one waits for it anew, at the end of the queue. */
  disturbed: boolean;
}

export interface Arrivals {
  /** From the first to the last. */
  seconds: number;
  shortestMs: number;
  longestMs: number;
  /** What is broken, in words; nothing where all is as it must be. */
  faults: string[];
}

/** A request may be on its way a little longer once and a little shorter the next time. */
const TOLERANCE_MS = 20;

export function arrivalsOf(calls: readonly PacedCall[], intervalMs: number): Arrivals {
  const times = calls.flatMap(({ arrivedAt }) => arrivedAt).sort((left, right) => left - right);
  const gaps = times.slice(1).map((at, index) => at - (times[index] ?? at));
  const spanMs = (times.at(-1) ?? 0) - (times[0] ?? 0);
  const [shortestMs, longestMs] = [Math.min(...gaps), Math.max(...gaps)];
  const faults = [
    ...calls.filter(({ arrivedAt }) => arrivedAt.length !== 1).map(countFault),
    ...overtaken(calls.filter(({ disturbed }) => !disturbed)),
    ...(shortestMs < intervalMs - TOLERANCE_MS ? [`two calls were ${shortestMs} ms apart`] : []),
    ...(spanMs < (calls.length - 1) * intervalMs - TOLERANCE_MS ? [`all calls took ${spanMs} ms`] : []),
  ];
  return { seconds: spanMs / 1000, shortestMs, longestMs, faults };
}

function countFault({ number, arrivedAt }: PacedCall): string {
  return `call ${number} was made ${arrivedAt.length} times`;
}

function overtaken(calls: readonly PacedCall[]): string[] {
  const inOrder = [...calls].sort((left, right) => left.number - right.number);
  return inOrder
    .slice(1)
    .flatMap((call, index) =>
      (call.arrivedAt[0] ?? 0) < (inOrder[index]?.arrivedAt[0] ?? 0) ? [`call ${call.number} overtook another`] : [],
    );
}
