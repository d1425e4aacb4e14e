/** Runs that one instance started and the other one deals with. */
import { AppError } from '../../../contracts';
import type { StreamFrame } from '../../ask/event-stream';
import type { Gateway } from '../../ask/gateway';
import { isEnd, readUntil, textOf, within, type Checker, type StartedRun } from './checker';
import { ALL_WORDS, FIRST_HALF } from './held-model';

export const hasFirstHalf = (_frame: StreamFrame, frames: readonly StreamFrame[]): boolean =>
  textOf(frames).startsWith(FIRST_HALF);

/** Cut off at `b` half-way and resumed there, it must be event for event what a reads from the beginning. */
export async function joinedAtOther({ a, b, model, startRun }: Checker): Promise<string> {
  const release = model.hold();
  try {
    const run = await startRun(a);
    await run.response.body?.cancel();
    const before = await readUntil(await join(b, run), hasFirstHalf);
    const lastEventId = before.findLast(({ id }) => id !== undefined)?.id;
    if (lastEventId === undefined) throw wrong('no event of the stream has an id');
    release();
    const after = await readUntil(await join(b, run, lastEventId), isEnd);
    const whole = await readUntil(await join(a, run), isEnd);
    compare([...before, ...after], whole);
    return `${whole.length} events, cut after ${before.length}`;
  } finally {
    release();
  }
}

function compare(inParts: readonly StreamFrame[], whole: readonly StreamFrame[]): void {
  const ids = (frames: readonly StreamFrame[]) => frames.flatMap(({ id }) => (id === undefined ? [] : [id]));
  const [read, there] = [ids(inParts), ids(whole)];
  const twice = read.filter((id, place) => read.indexOf(id) !== place);
  const missing = there.filter((id) => !read.includes(id));
  if (twice.length > 0) throw wrong(`came twice: ${twice.join(', ')}`);
  if (missing.length > 0) throw wrong(`never came: ${missing.join(', ')}`);
  if (read.join() !== there.join()) throw wrong(`came in another order: ${read.join(', ')}`);
  for (const frames of [inParts, whole]) {
    if (textOf(frames) !== ALL_WORDS) throw wrong(`the reply was "${ALL_WORDS}", and "${textOf(frames)}" came`);
  }
}

export async function cancelledAtOther({ a, b, model, startRun }: Checker): Promise<string> {
  const release = model.hold();
  try {
    const run = await startRun(a);
    await readUntil(run.response, hasFirstHalf);
    await b.cancelRun(run.threadId, run.runId);
    const { status } = await a.readRun(run.threadId, run.runId);
    if (status !== INTERRUPTED) throw wrong(`a says that it is ${status}`);
    return `${status} at a`;
  } finally {
    release();
  }
}

const INTERRUPTED = 'interrupted';

function join(at: Gateway, { threadId, runId }: StartedRun, lastEventId?: string): Promise<Response> {
  return at.joinRun({ threadId, runId, signal: within(), ...(lastEventId === undefined ? {} : { lastEventId }) });
}

function wrong(problem: string): AppError {
  return new AppError('unavailable', problem);
}
