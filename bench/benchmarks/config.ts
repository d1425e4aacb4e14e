import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createLiveConfig, loadConfig } from '../../config';
import { createSilentLogger } from '../../observability';
import { findInstallation } from '../../workers/stack/project-root';
import type { Benchmark } from '../benchmark';
import { percentile, sample } from '../statistics';

const LOOKS = 5_000;
const READS = 50;
const QUICK_SHARE = 20;
const LIMIT_MS = 1;
const ENV = { EXAMPLE_KEY: 'a-key', EXAMPLE_PACE: '60' };

export const configuration: Benchmark = {
  name: 'CONFIG',
  title: 'Reading the configuration again',
  about:
    'What it costs a run to know that the configuration has not changed: a look at the file, which happens for each ' +
    'run. And what reading it anew costs when it has: a file with every key, parsed, resolved and checked.',
  async run(context) {
    const folder = await context.folder();
    const path = join(folder, 'config.yaml');
    const text = await readFile(join(findInstallation(), 'tests/fixtures/every-key.yaml'), 'utf8');
    const location = { path, env: ENV, cwd: folder };
    await writeFile(path, text);
    let clock = 0;
    // Time passes between two looks, so that each of them goes to the file.
    const now = () => (clock += 1_000);
    const live = createLiveConfig({ location, first: loadConfig(location), log: createSilentLogger(), now });
    const share = context.quick ? QUICK_SHARE : 1;
    const looks: number[] = [];
    const reads: number[] = [];
    for (let repeat = 1; repeat <= context.repeats; repeat += 1) {
      context.signal.throwIfAborted();
      looks.push(median(Math.ceil(LOOKS / share), () => live.current()));
      reads.push(median(Math.ceil(READS / share), () => loadConfig(location)));
    }
    return [
      {
        metric: 'a look at an unchanged file',
        unit: 'ms',
        better: 'lower',
        product: sample(looks),
        peers: {},
        targets: [{ limit: LIMIT_MS }],
      },
      { metric: 'reading a file with every key', unit: 'ms', better: 'lower', product: sample(reads), peers: {} },
    ];
  },
};

function median(count: number, work: () => unknown): number {
  const times: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const begun = performance.now();
    work();
    times.push(performance.now() - begun);
  }
  return percentile(times, 50);
}
