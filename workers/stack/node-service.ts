/** The worker and the API as services: compiled entry points that say on their IPC channel when they do their work. */
import { AppError } from '../../contracts';
import { launchNode, type RunningProcess } from './launch';
import { tailOfLog } from './log-file';
import type { ProcessRecords } from './process-records';
import type { Service } from './supervisor';

export interface NodeServiceOptions {
  name: string;
  entryPoint: string;
  /** Asked for at every start. */
  env: () => NodeJS.ProcessEnv;
  logFile: string;
  records?: ProcessRecords;
  startLimitMs?: number;
  drainMs?: number;
}

export function createNodeService(options: NodeServiceOptions): Service {
  return { name: options.name, start: (signal) => startNode(options, signal) };
}

async function startNode(options: NodeServiceOptions, signal: AbortSignal): Promise<RunningProcess> {
  let announceReady: () => void = () => undefined;
  const ready = new Promise<'ready'>((resolve) => (announceReady = () => resolve('ready')));
  const running = await launchNode({
    name: options.name,
    args: [options.entryPoint],
    env: options.env(),
    logFile: options.logFile,
    records: options.records,
    stopSignal: 'SIGTERM',
    urgentSignal: 'SIGKILL',
    drainMs: options.drainMs ?? 45_000,
    onMessage: (message) => isReady(message) && announceReady(),
  });
  const outcome = await firstOf(ready, running, { limitMs: options.startLimitMs ?? 60_000, signal });
  if (outcome === 'ready') return running;
  await running.stop(outcome === 'aborted' ? 'drain' : 'now');
  signal.throwIfAborted();
  const what = outcome === 'ended' ? 'ended while starting' : 'was not ready in time';
  throw new AppError(
    'unavailable',
    `${options.name} ${what}. The end of its log (${options.logFile}):\n${tailOfLog(options.logFile)}`,
  );
}

type Outcome = 'ready' | 'ended' | 'late' | 'aborted';

function firstOf(
  ready: Promise<'ready'>,
  running: RunningProcess,
  options: { limitMs: number; signal: AbortSignal },
): Promise<Outcome> {
  return new Promise((resolve) => {
    const settle = (outcome: Outcome) => {
      clearTimeout(timer);
      options.signal.removeEventListener('abort', onAbort);
      resolve(outcome);
    };
    const onAbort = () => settle('aborted');
    const timer = setTimeout(() => settle('late'), options.limitMs);
    options.signal.addEventListener('abort', onAbort, { once: true });
    if (options.signal.aborted) onAbort();
    void ready.then(settle);
    void running.exited.then(() => settle('ended'));
  });
}

function isReady(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'type' in message && message.type === 'ready';
}
