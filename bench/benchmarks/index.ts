/** All benchmarks, in the order of their names. */
import type { Benchmark } from '../benchmark';
import { stepOverhead } from './b1-step-overhead';

export const BENCHMARKS: readonly Benchmark[] = [stepOverhead];
