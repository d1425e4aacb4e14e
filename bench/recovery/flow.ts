/** Runs that are in flight all the time: where one ends, the next begins. Each is read by a subscriber from its start. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { ask } from '../../tests/support/product/client';
import type { Frame } from '../../tests/support/product/client';
import { parseId } from '../readers';
import type { System } from '../system';
import type { RecoveryPlan } from './plans';

export interface SeenEvent {
  /** Null for the end of the stream, which has none. */
  number: number | null;
  /** When it was committed, in milliseconds since the epoch. */
  at: number;
  arrivedAt: number;
}

export interface RunInFlight {
  readonly plan: RecoveryPlan;
  readonly threadId: string;
  /** Null until the first event. */
  readonly runId: string | null;
  readonly events: readonly SeenEvent[];
  readonly ended: boolean;
}

export interface Flow {
  inFlight(): RunInFlight[];
  /** Every run that was begun. */
  readonly all: readonly RunInFlight[];
  /** Resolves when every place has a run of which the subscriber got more than the beginning. */
  underWay(): Promise<void>;
  /** Begins no further run, and waits for those in flight: not for ever, what has not ended then is a fault. */
  finish(): Promise<void>;
}

export interface FlowOptions {
  system: System;
  /** Makes the plan of the next run at each place; so many runs are in flight. */
  places: ReadonlyArray<(tag: string) => RecoveryPlan>;
  signal: AbortSignal;
}

const LOOK_MS = 20;
const FINISH_LIMIT_MS = 120_000;

/** Of what a kill may interrupt, everything that a reader can see: parts of replies, messages, steps, notices. */
const STREAM_MODES = ['messages-tuple', 'updates', 'custom'];

export function startFlow({ system, places, signal }: FlowOptions): Flow {
  const all: RunInFlight[] = [];
  let finishing = false;
  const keepFull = async (makePlan: (tag: string) => RecoveryPlan): Promise<void> => {
    while (!finishing && !signal.aborted) {
      const run = beginRun(system, makePlan(`r${all.length + 1}`), signal);
      all.push(run.state);
      await run.done;
    }
  };
  const kept = Promise.all(places.map(keepFull));
  // Whoever finishes gets the failure; until then nobody waits.
  kept.catch(() => undefined);
  return {
    all,
    inFlight: () => all.filter(({ ended }) => !ended),
    async underWay() {
      const isUnderWay = ({ events }: RunInFlight): boolean => events.length > 1;
      while (all.filter(isUnderWay).length < places.length) {
        signal.throwIfAborted();
        await Promise.race([delay(LOOK_MS), kept]);
      }
    },
    async finish() {
      finishing = true;
      await Promise.race([kept, delay(FINISH_LIMIT_MS, undefined, { ref: false })]);
    },
  };
}

function beginRun(
  system: System,
  plan: RecoveryPlan,
  signal: AbortSignal,
): { state: RunInFlight; done: Promise<void> } {
  const threadId = randomUUID();
  const events: SeenEvent[] = [];
  const state = { plan, threadId, events, runId: null as string | null, ended: false };
  const take = (frame: Frame): boolean => {
    const arrivedAt = Date.now();
    state.runId ??= (frame.data as { run_id: string }).run_id;
    events.push({ number: null, at: arrivedAt, arrivedAt, ...(frame.id === null ? {} : parseId(frame.id)) });
    return frame.event === 'end';
  };
  const body = ask(plan.question, { stream_mode: STREAM_MODES, if_not_exists: 'create' });
  const path = `/api/threads/${threadId}/runs/stream`;
  const done = system.api.stream({ path, body, signal, until: take }).then(({ status }) => {
    state.ended = true;
    if (status !== 200) throw new Error(`A run was refused with status ${status}.`);
  });
  return { state, done };
}
