/** All benchmarks, in the order of their names. */
import type { Benchmark } from '../benchmark';
import { stepOverhead } from './b1-step-overhead';
import { latency } from './b2-latency';
import { throughput } from './b3-throughput';
import { flatness } from './b4-flatness';
import { recovery } from './b5-recovery';
import { streamLag } from './b6-stream-lag';
import { waitingRuns } from './b7-waiting-runs';
import { stackStart } from './b9-start';
import { admission } from './admission';
import { configuration } from './config';

export const BENCHMARKS: readonly Benchmark[] = [
  stepOverhead,
  latency,
  throughput,
  flatness,
  recovery,
  streamLag,
  waitingRuns,
  stackStart,
  admission,
  configuration,
];
