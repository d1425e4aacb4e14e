import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { FromReaders, ReadReport, ReadRequest, ToReaders } from './protocol';

export interface Readers {
  readonly pid: number;
  /** Begins to read. Resolves when every reader has its first frame. */
  begin(request: ReadRequest): Promise<void>;
  /** Resolves when every reader is at its stream's end. */
  finished(signal: AbortSignal): Promise<ReadReport>;
  close(): Promise<void>;
}

/** Starts the process of readers; it takes one request after another. */
export async function startReaders(signal: AbortSignal): Promise<Readers> {
  const child = fork(join(__dirname, 'reader-process.js'), [], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await expect(child, 'ready', signal);
  let report: Promise<ReadReport> | null = null;
  return {
    pid: child.pid ?? 0,
    async begin(request) {
      const connected = expect(child, 'connected', signal);
      report = expect(child, 'report', signal).then((message) => message.report);
      // Whoever waits for it gets the failure; until then nobody does.
      report.catch(() => undefined);
      const message: ToReaders = { type: 'read', request };
      child.send(message);
      await connected;
    },
    async finished(stop) {
      if (report === null) throw new Error('the readers were not asked to read');
      const stopped = once(stop, 'abort').then(() => {
        throw new Error('the readers were not done in time');
      });
      return stop.aborted ? stopped : Promise.race([report, stopped]);
    },
    async close() {
      child.disconnect();
      await exited;
    },
  };
}

type Message<Type extends FromReaders['type']> = Extract<FromReaders, { type: Type }>;

/** The next message of a type from the child, or a failure if it says so or ends first. */
function expect<Type extends FromReaders['type']>(
  child: ChildProcess,
  type: Type,
  signal: AbortSignal,
): Promise<Message<Type>> {
  return new Promise((resolve, reject) => {
    const done = (): void => {
      child.off('message', onMessage);
      child.off('exit', onExit);
      signal.removeEventListener('abort', onAbort);
    };
    const onMessage = (message: FromReaders): void => {
      if (message.type === 'failed') {
        done();
        reject(new Error(`the readers failed: ${message.message}`));
      } else if (message.type === type) {
        done();
        resolve(message as Message<Type>);
      }
    };
    const onExit = (): void => {
      done();
      reject(new Error('the process of readers ended'));
    };
    const onAbort = (): void => {
      done();
      reject(new Error('the benchmark was stopped'));
    };
    child.on('message', onMessage);
    child.once('exit', onExit);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
  });
}
