import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findTestTemporal } from '../../tests/support/services';
import { findInstallation } from '../../workers/stack/project-root';
import type { BenchContext, Benchmark, Row, Target } from '../benchmark';
import { treeBytes } from '../processes';
import type { FirstRun, ReadyStack, StackCommand, StackPart } from '../stack-start';
import { makeFirstRun, runStackCommand } from '../stack-start';
import { sample } from '../statistics';

/** Until nothing is left of the start and of the run, and connections that are idle have been given up. */
const REST_MS = 10_000;
const QUICK_REST_MS = 1_000;

const MEGABYTE = 1_000_000;
const READY_LIMIT_SECONDS = 6;
const READY_AIM_SECONDS = 3.3;

const PARTS = { worker: 'the worker', api: 'the API', temporal: 'Temporal', postgres: 'PostgreSQL' } as const;

interface Start {
  ready: ReadyStack;
  first: FirstRun;
  stopSeconds: number;
}

/** In megabytes. */
type Memory = Record<keyof typeof PARTS | 'all', number>;

export const stackStart: Benchmark = {
  name: 'B9',
  title: 'Start',
  about:
    'From the command `npm start` to the line that says ready, on a new home (PostgreSQL creates its data, Temporal and ' +
    'the product their tables) and again on the same home; the first run after each, with the built-in demo model, ' +
    'which pauses between its words as a real one does; and from Ctrl-C to the end of the command. The Temporal ' +
    'executable was there before. Memory is what the processes have when nothing is to do, without npm; what several of ' +
    'them share is counted once.',
  async run(context) {
    // A first download belongs to the network, not to the product.
    await findTestTemporal();
    const fresh: Start[] = [];
    const again: Start[] = [];
    const memories: Memory[] = [];
    for (let repeat = 1; repeat <= context.repeats; repeat += 1) {
      const folder = await context.folder();
      fresh.push(await measureStart(context, folder));
      again.push(await measureStart(context, folder, (memory) => memories.push(memory)));
      context.log(
        `repeat ${repeat}: ready after ${describe(fresh)} on a new home, ${describe(again)} on an existing one`,
      );
    }
    return [
      ...startRows('new home', fresh, []),
      ...startRows('existing home', again, [{ limit: READY_LIMIT_SECONDS, aim: READY_AIM_SECONDS }]),
      row(
        'Ctrl-C to the end',
        's',
        [...fresh, ...again].map(({ stopSeconds }) => stopSeconds),
      ),
      ...memoryRows(memories),
    ];
  },
};

function describe(starts: readonly Start[]): string {
  return `${starts.at(-1)?.ready.seconds.toFixed(2) ?? ''} s`;
}

/** Starts on the home, makes the first run, looks at the memory of the resting stack where asked to, and stops. */
async function measureStart(context: BenchContext, folder: string, onRest?: (memory: Memory) => void): Promise<Start> {
  context.signal.throwIfAborted();
  const configPath = join(folder, 'config.yaml');
  await writeFile(configPath, '{}\n');
  const { signal } = context;
  const stack = runStackCommand({ root: findInstallation(), home: join(folder, 'home'), configPath, signal });
  context.onClose(async () => void (await stack.stop()));
  const ready = await stack.ready;
  const first = await makeFirstRun(ready.url);
  if (onRest !== undefined) {
    await delay(context.quick ? QUICK_REST_MS : REST_MS, undefined, { signal });
    onRest(memoryOf(stack));
  }
  return { ready, first, stopSeconds: await stack.stop() };
}

function memoryOf(stack: StackCommand): Memory {
  const of = (part: StackPart): number => treeBytes(stack.pids(part)) / MEGABYTE;
  return {
    // Everything is a descendant of the supervisor. npm, which only waits for it, is left out.
    all: of('supervisor'),
    worker: of('worker'),
    api: of('api'),
    temporal: of('temporal'),
    postgres: of('postgres'),
  };
}

function startRows(home: string, starts: readonly Start[], targets: Target[]): Row[] {
  const first = (time: keyof FirstRun): number[] => starts.map((start) => start.first[time]);
  return [
    row(
      `npm start to ready, ${home}`,
      's',
      starts.map(({ ready }) => ready.seconds),
      targets,
    ),
    row(
      `CPU time until ready, ${home}`,
      's',
      starts.map(({ ready }) => ready.cpuSeconds),
    ),
    row(`first run to its first event, ${home}`, 'ms', first('firstEventMs')),
    row(`first run to its first word, ${home}`, 'ms', first('firstWordMs')),
    row(`first run to its end, ${home}`, 'ms', first('endMs')),
  ];
}

function memoryRows(memories: readonly Memory[]): Row[] {
  const of = (part: keyof Memory): number[] => memories.map((memory) => memory[part]);
  const parts = Object.entries(PARTS) as Array<[keyof typeof PARTS, string]>;
  return [
    row('memory at rest, all processes', 'MB', of('all')),
    ...parts.map(([part, name]) => row(`memory at rest, ${name}`, 'MB', of(part))),
  ];
}

function row(metric: string, unit: string, values: readonly number[], targets: Target[] = []): Row {
  return { metric, unit, better: 'lower', product: sample(values), peers: {}, targets };
}
