/** All benchmarks, in the order of their names. */
import type { Benchmark } from '../benchmark';
import { stepOverhead } from './b1-step-overhead';
import { flatness } from './b4-flatness';
import { streamLag } from './b6-stream-lag';
import { waitingRuns } from './b7-waiting-runs';

export const BENCHMARKS: readonly Benchmark[] = [stepOverhead, flatness, streamLag, waitingRuns];
