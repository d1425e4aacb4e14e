/** One kill of a worker among runs that are in flight, and what it did to each of them. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Part } from '../../tests/support/product/part';
import type { System } from '../system';
import type { Flow, RunInFlight } from './flow';
import type { Phase, Whereabouts } from './whereabouts';
import { whereaboutsOf } from './whereabouts';

export interface Recovery {
  phase: Phase;
  /** From the kill to the arrival of the run's next event at its subscriber. */
  seconds: number;
}

export interface KillOutcome {
  /** Of the runs that were in flight on the killed worker. */
  recoveries: Recovery[];
  /** From the start of the process that takes its place until it asks for work. */
  workerStartSeconds: number;
  /** Runs that did not go on in time. */
  stuck: RunInFlight[];
}

/** As long as the supervisor of `npm start` waits before it starts a worker again. */
const RESTART_DELAY_MS = 500;

/**
 * What the killed worker had sent to the database before its end may still arrive there. Nobody else can have taken over
 * a run so soon.
 */
const AFTERMATH_MS = 200;

const LIMIT_MS = 60_000;
const LOOK_MS = 10;

export interface KillOptions {
  system: System;
  flow: Flow;
  victim: Part;
  signal: AbortSignal;
}

/** Returns when another worker runs in the place of the victim and every run goes on. */
export async function killWorker({ system, flow, victim, signal }: KillOptions): Promise<KillOutcome> {
  const watched = flow.inFlight().filter(({ runId }) => runId !== null);
  const alone = system.workers.filter(({ running }) => running).length === 1;
  const killedAt = Date.now();
  await victim.kill();
  const replacing = replace(system, signal);
  // Whoever waits for it gets the failure; a failure before that is told first.
  replacing.catch(() => undefined);
  const places = await Promise.all(watched.map((run) => whereaboutsOf(system.temporal, run.runId ?? '')));

  const recoveries: Recovery[] = [];
  const stuck: RunInFlight[] = [];
  await Promise.all(
    watched.map(async (run, index) => {
      const place = places[index] ?? null;
      const arrivedAt = await nextEvent(run, killedAt + AFTERMATH_MS, signal);
      if (arrivedAt === null) {
        if (!run.ended) stuck.push(run);
      } else if (place !== null && wasOn(place, victim, alone)) {
        recoveries.push({ phase: place.phase, seconds: (arrivedAt - killedAt) / 1000 });
      }
    }),
  );
  return { recoveries, workerStartSeconds: await replacing, stuck };
}

/** Where there is one worker, whatever waits for a worker waits for that one. */
function wasOn({ worker }: Whereabouts, victim: Part, alone: boolean): boolean {
  return alone || (worker?.startsWith(`${victim.pid}@`) ?? false);
}

async function replace(system: System, signal: AbortSignal): Promise<number> {
  await delay(RESTART_DELAY_MS, undefined, { signal });
  const begun = performance.now();
  await system.startWorker();
  return (performance.now() - begun) / 1000;
}

/** When the first event after that time arrived; null where the run had ended before, or none came in time. */
async function nextEvent(run: RunInFlight, since: number, signal: AbortSignal): Promise<number | null> {
  const deadline = Date.now() + LIMIT_MS;
  for (;;) {
    const event = run.events.find(({ at }) => at > since);
    if (event !== undefined) return event.arrivedAt;
    if (run.ended || Date.now() > deadline) return null;
    signal.throwIfAborted();
    await delay(LOOK_MS);
  }
}
