/**
 * The readers of a stream as a process of their own, so that measuring takes nothing from the event loops that are
 * measured. Started with `fork`; ends when its parent is gone.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { FromReaders, ReadReport, ReadRequest, ToReaders } from './protocol';
import { readStream } from './reader';

const NANOSECONDS_PER_MILLISECOND = 1e6;
const MICROSECONDS_PER_SECOND = 1e6;

/** Connections that are opened at once, so that opening them is no storm of its own. */
const OPENED_TOGETHER = 25;

const tell = (message: FromReaders): void => void process.send?.(message);

async function read(request: ReadRequest): Promise<ReadReport> {
  const loop = monitorEventLoopDelay({ resolution: 5 });
  loop.enable();
  const cpuBefore = process.cpuUsage();
  const begun = performance.now();
  let waiting = request.readers;
  const readers: Array<ReturnType<typeof readStream>> = [];
  for (let place = 0; place < request.readers; place += OPENED_TOGETHER) {
    const group = Math.min(OPENED_TOGETHER, request.readers - place);
    const opened = Array.from({ length: group }, (_, index) => open(request, place + index));
    readers.push(...opened.map(({ reader }) => reader));
    await Promise.all(opened.map(({ first }) => first));
    waiting -= group;
    if (waiting === 0) tell({ type: 'connected' });
  }
  const reports = await Promise.all(readers);
  const wallSeconds = (performance.now() - begun) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  loop.disable();
  return {
    readers: reports,
    cpuSeconds: (user + system) / MICROSECONDS_PER_SECOND,
    wallSeconds,
    loopDelayMs: loop.percentile(99) / NANOSECONDS_PER_MILLISECOND,
  };
}

/** A reader and the arrival of its first frame, or its end where none arrives. */
function open(request: ReadRequest, place: number) {
  let onFirstFrame: () => void = () => undefined;
  const firstFrame = new Promise<void>((resolve) => {
    onFirstFrame = resolve;
  });
  // Spread over both APIs alike: a pair of places shares a lot.
  const unsteady = Math.floor(place / request.urls.length) < request.unsteady / request.urls.length;
  const reader = readStream({ request, place, unsteady, onFirstFrame });
  return { reader, first: Promise.race([firstFrame, reader]) };
}

process.on('message', (message: ToReaders) => {
  read(message.request).then(
    (report) => tell({ type: 'report', report }),
    (error: unknown) => tell({ type: 'failed', message: String(error) }),
  );
});
process.once('disconnect', () => process.exit(0));
// Ctrl-C in a terminal reaches every process of the group; the benchmark ends this one in its turn.
process.on('SIGINT', () => undefined);
tell({ type: 'ready' });
