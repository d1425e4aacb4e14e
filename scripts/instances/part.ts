/** A process of the instances that can be stopped and started by its name while the others go on. */
import { AppError } from '../../contracts';
import type { Progress } from '../../workers/stack/progress';
import type { StopMode } from '../../workers/stack/launch';
import { supervise, type Service, type SupervisedService } from '../../workers/stack/supervisor';

export interface PartStatus {
  name: string;
  /** What somebody wants it to be. */
  wanted: 'running' | 'stopped';
  /** Null while it does not run; it is started again where that is not wanted. */
  pid: number | null;
}

export interface Part {
  readonly name: string;
  status(): PartStatus;
  start(): Promise<void>;
  /** `now` kills it, as a crash would. It stays away until it is started. */
  stop(mode: StopMode): Promise<void>;
}

export function createPart(service: Service, options: { progress: Progress; signal: AbortSignal }): Part {
  const { progress, signal } = options;
  let supervised: SupervisedService | null = null;
  let pid: number | null = null;
  let latest: Promise<void> = Promise.resolve();

  const noted: Service = {
    name: service.name,
    async start(startSignal) {
      const running = await service.start(startSignal);
      pid = running.pid;
      void running.exited.then(() => (pid = null));
      return running;
    },
  };
  /** One after the other: a start during a stop waits for its end. */
  const inTurn = (change: () => Promise<void>): Promise<void> => {
    const result = latest.then(change);
    latest = result.catch(() => undefined);
    return result;
  };
  return {
    name: service.name,
    status: () => ({ name: service.name, wanted: supervised === null ? 'stopped' : 'running', pid }),
    start: () =>
      inTurn(async () => {
        if (supervised !== null) throw new AppError('conflict', `${service.name} runs already.`);
        supervised = await supervise(noted, { progress }, signal);
      }),
    async stop(mode) {
      // A kill does not wait for an orderly stop that is under way.
      if (mode === 'now') await supervised?.stop('now');
      await inTurn(async () => {
        await supervised?.stop(mode);
        supervised = null;
      });
    },
  };
}
