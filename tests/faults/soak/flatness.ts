/**
 * Whether memory is flat although processes are young again after every restart. Two comparisons, each of an early
 * window with the last one:
 *
 * - While there are restarts: samples of the first third (without the very first, in which caches of the machine fill)
 *   against the last third, at equal ages. Samples are put into classes of age, and only classes that both windows have
 *   count, each with the weight of its rarer window. It finds what grows with what is stored, or with the number of
 *   restarts.
 * - Afterwards, in a stretch without restarts, when all processes grow old together: its second quarter against its last
 *   one. It finds what a process keeps of each run. The first quarter warms up.
 *
 * A window may have a little more than the other; a leak of a run's conversation or connections is far more.
 */
import type { Sample } from './samples';

export interface Window {
  from: number;
  to: number;
}

export interface Comparison {
  kind: string;
  stretch: 'with restarts' | 'without restarts';
  early: number;
  late: number;
}

const AGE_CLASSES_MS = [0, 5_000, 10_000, 20_000, 40_000, 80_000, 160_000, Infinity] as const;

/** Fewer samples than this in one window say nothing. */
const LEAST_SAMPLES = 5;

const GROWTH = 1.15;
const GROWTH_MEGABYTES = 15;

export function isFlat({ early, late }: Comparison): boolean {
  return late <= early * GROWTH + GROWTH_MEGABYTES;
}

/** The part of a window, such as its last third. */
function part({ from, to }: Window, begin: number, end: number): Window {
  return { from: from + begin * (to - from), to: from + end * (to - from) };
}

const inside = ({ from, to }: Window, { at }: Sample): boolean => at >= from && at < to;

const mean = (samples: readonly Sample[]): number =>
  samples.reduce((sum, { megabytes }) => sum + megabytes, 0) / samples.length;

/** Null where the windows have too few samples of equal age. */
export function compareAtEqualAges(samples: readonly Sample[], kind: string, window: Window): Comparison | null {
  const ofKind = samples.filter((sample) => sample.kind === kind);
  let [early, late, weights] = [0, 0, 0];
  AGE_CLASSES_MS.slice(1).forEach((limit, index) => {
    const ofAge = ofKind.filter(({ ageMs }) => ageMs >= (AGE_CLASSES_MS[index] ?? 0) && ageMs < limit);
    const before = ofAge.filter((sample) => inside(part(window, 0.05, 0.35), sample));
    const after = ofAge.filter((sample) => inside(part(window, 0.65, 1), sample));
    const weight = Math.min(before.length, after.length);
    if (weight < LEAST_SAMPLES) return;
    early += weight * mean(before);
    late += weight * mean(after);
    weights += weight;
  });
  return weights === 0 ? null : { kind, stretch: 'with restarts', early: early / weights, late: late / weights };
}

export function compareWhileOld(samples: readonly Sample[], kind: string, window: Window): Comparison | null {
  const ofKind = samples.filter((sample) => sample.kind === kind);
  const before = ofKind.filter((sample) => inside(part(window, 0.25, 0.5), sample));
  const after = ofKind.filter((sample) => inside(part(window, 0.75, 1), sample));
  if (Math.min(before.length, after.length) < LEAST_SAMPLES) return null;
  return { kind, stretch: 'without restarts', early: mean(before), late: mean(after) };
}
