/** Keeps services running: a service that ends unasked is started again, later each time that it ends soon. */
import { setTimeout as delay } from 'node:timers/promises';
import { isAppError } from '../../contracts';
import type { ExitReport, RunningProcess, StopMode } from './launch';
import type { Progress } from './progress';

export interface Service {
  name: string;
  /** Starts the process and returns when it does its work. Called again whenever it has ended. */
  start(signal: AbortSignal): Promise<RunningProcess>;
}

export interface SupervisorOptions {
  progress: Progress;
  firstDelayMs?: number;
  maxDelayMs?: number;
  /** A process that lived this long starts the delays anew. */
  stableMs?: number;
}

export interface SupervisedService {
  name: string;
  stop(mode: StopMode): Promise<void>;
}

/** Starts a service; where the first start fails the error is the caller's. Later failures are retried for ever. */
export async function supervise(
  service: Service,
  options: SupervisorOptions,
  signal: AbortSignal,
): Promise<SupervisedService> {
  const stopped = new AbortController();
  const starting = AbortSignal.any([signal, stopped.signal]);
  let current: RunningProcess | undefined = await service.start(starting);
  let urgent = false;

  const keep = async () => {
    let wait = options.firstDelayMs ?? 500;
    while (current && !stopped.signal.aborted) {
      const since = Date.now();
      const report = await current.exited;
      if (stopped.signal.aborted) return;
      if (Date.now() - since > (options.stableMs ?? 60_000)) wait = options.firstDelayMs ?? 500;
      options.progress.warn(`${service.name} ${describe(report)}; starting it again.`);
      current = undefined;
      while (!current && !stopped.signal.aborted) {
        await delay(wait, undefined, { signal: stopped.signal }).catch(() => undefined);
        if (stopped.signal.aborted) return;
        wait = Math.min(wait * 2, options.maxDelayMs ?? 30_000);
        current = await startAgain(service, options, stopped.signal);
      }
    }
    // It came up in the moment in which it was told to stop.
    await current?.stop(urgent ? 'now' : 'drain');
  };
  const kept = keep();
  return {
    name: service.name,
    async stop(mode) {
      stopped.abort();
      urgent ||= mode === 'now';
      await current?.stop(mode);
      await kept;
    },
  };
}

async function startAgain(service: Service, options: SupervisorOptions, signal: AbortSignal) {
  try {
    const running = await service.start(signal);
    options.progress.step(`${service.name} runs again.`);
    return running;
  } catch (error) {
    if (signal.aborted) return undefined;
    const reason = isAppError(error) ? error.message : (error as Error).message;
    options.progress.warn(`${service.name} did not start: ${reason}`);
    return undefined;
  }
}

function describe({ code, signal }: ExitReport): string {
  return signal === null ? `ended with code ${code}` : `was ended by ${signal}`;
}
