import { setTimeout as delay } from 'node:timers/promises';
import { AppError, isAppError } from '../contracts';
import type { Config, ModelConfig } from '../contracts/schemas/config';
import type { ModelPermitStore, Pace } from '../db';
import type { ModelReply } from '../models';
import { countsForCircuit, PACE_CONFLICT } from '../models';
import type { Logger } from '../observability';
import { createModelSlots } from './model-slots';

/** Lets a model be asked when it may be, over all workers. What is not configured costs nothing. */
export interface ModelPermits {
  /** One call with all its attempts: refused at once while the model is left alone. */
  call(model: string, settings: Config['circuit_breaker'], work: () => Promise<ModelReply>): Promise<ModelReply>;
  /** One attempt: waits for its turn and for a place. */
  attempt(wish: AttemptWish, work: () => Promise<ModelReply>): Promise<ModelReply>;
}

export interface AttemptWish {
  model: string;
  admission: ModelConfig['request_admission'];
  /** Calls under way at once, over all workers; 0 is no limit. */
  maxConcurrent: number;
  signal: AbortSignal;
}

export interface ModelPermitsOptions {
  store: ModelPermitStore;
  log: Logger;
  /** How long a place is kept for a worker of which nothing is heard, in milliseconds. */
  leaseMs?: number;
  /** How long what is known of a circuit is taken as true, in milliseconds. */
  circuitFreshMs?: number;
}

const QUEUE_FULL = 'LLM admission queue is full; reduce workload or increase queue capacity.';
const TIMED_OUT = 'LLM admission timed out before dispatch; increase max_wait_seconds or reduce workload.';
const LEASE_MS = 5_000;
const CIRCUIT_FRESH_MS = 2_000;
/** Whoever is before us may go away: the turn can come earlier than was said. */
const LONGEST_SLEEP_MS = 1_000;

export function createModelPermits(options: ModelPermitsOptions): ModelPermits {
  const { store, log, leaseMs = LEASE_MS, circuitFreshMs = CIRCUIT_FRESH_MS } = options;
  const slots = createModelSlots({ store, log, leaseMs });
  const circuits = createCircuits({ store, log, circuitFreshMs, leaseMs });

  async function waitForTurn(pace: Pace, signal: AbortSignal): Promise<void> {
    const deadline = performance.now() + pace.policy.max_wait_seconds * 1000;
    let ticket: number | null = null;
    try {
      for (;;) {
        signal.throwIfAborted();
        const turn = await store.admit(pace, ticket, leaseMs);
        ticket = turn.state === 'lost' ? null : turn.ticket;
        if (turn.state === 'admitted') return;
        if (turn.state === 'full') throw refusal(QUEUE_FULL);
        if (turn.state === 'changed') throw new AppError('configuration', PACE_CONFLICT);
        const left = deadline - performance.now();
        if (left <= 0) throw refusal(TIMED_OUT);
        await delay(Math.min(Math.ceil(turn.waitMs), LONGEST_SLEEP_MS, leaseMs / 2, left), undefined, { signal });
      }
    } catch (error) {
      // Spends nothing: the next one gets the turn. Should this fail as well, the lease ends by itself.
      if (ticket !== null) await store.leaveQueue(pace, ticket).catch(() => undefined);
      signal.throwIfAborted();
      throw error;
    }
  }

  return {
    call: (model, settings, work) => circuits.call(model, settings, work),
    attempt: ({ model, admission, maxConcurrent, signal }, work) =>
      slots.hold(maxConcurrent, signal, async () => {
        if (admission) await waitForTurn(paceOf(model, admission), signal);
        return work();
      }),
  };
}

/** Models of one group share a pace; the two kinds of names never meet. */
function paceOf(model: string, admission: NonNullable<ModelConfig['request_admission']>): Pace {
  const { group, ...policy } = admission;
  return { key: group ? `group:${group}` : `model:${model}`, policy };
}

function refusal(text: string): AppError {
  return new AppError('model_admission', text, { detail: { reason: 'admission' } });
}

function circuitOpen(model: string, openMs: number): AppError {
  const wait = openMs > 0 ? `; it is tried again in ${Math.ceil(openMs / 1000)} s` : '; it is being tried';
  const text = `The model ${model} failed several times in a row and is left alone${wait}.`;
  return new AppError('model_circuit_open', text, { detail: { reason: 'circuit_open' } });
}

interface Known {
  at: number;
  failures: number;
}

/** A row of the database is read at most every few seconds for each model: while all goes well it has nothing to say. */
function createCircuits({ store, log, circuitFreshMs: freshMs, leaseMs }: Required<ModelPermitsOptions>) {
  const known = new Map<string, Known>();

  async function state(model: string): Promise<{ failures: number; openMs: number }> {
    const entry = known.get(model);
    const fresh = entry !== undefined && performance.now() - entry.at < freshMs;
    if (fresh && entry.failures === 0) return { failures: 0, openMs: 0 };
    const circuit = await store.circuit(model);
    known.set(model, { at: performance.now(), failures: circuit.failures });
    return circuit;
  }

  return {
    async call(
      model: string,
      { failure_threshold: threshold, recovery_timeout_sec: recovery }: Config['circuit_breaker'],
      work: () => Promise<ModelReply>,
    ): Promise<ModelReply> {
      const { failures, openMs } = await state(model);
      const isProbe = failures >= threshold;
      if (isProbe && (openMs > 0 || !(await store.takeProbe(model, leaseMs)))) throw circuitOpen(model, openMs);
      let reply: ModelReply;
      try {
        reply = isProbe ? await asProbe(model, work) : await work();
      } catch (error) {
        if (isAppError(error) && countsForCircuit(error)) {
          await note(store.countFailure(model, { threshold, recoveryMs: recovery * 1000 }));
          known.delete(model);
        } else if (isProbe) {
          await note(store.freeProbe(model));
        }
        throw error;
      }
      if (failures > 0) await note(forget(model));
      return reply;
    },
  };

  /** The try of a worker that died is soon another's: perhaps that of the same run, which goes on there. */
  async function asProbe(model: string, work: () => Promise<ModelReply>): Promise<ModelReply> {
    const renewal = setInterval(() => void note(store.renewProbe(model, leaseMs)), leaseMs / 3);
    try {
      return await work();
    } finally {
      clearInterval(renewal);
    }
  }

  /** What is noted of a call changes nothing about it: a reply that was paid for is not lost with its note. */
  async function note(writing: Promise<void>): Promise<void> {
    await writing.catch((error: unknown) => log.warn({ err: error }, 'what became of a model call could not be noted'));
  }

  async function forget(model: string): Promise<void> {
    await store.closeCircuit(model);
    known.set(model, { at: performance.now(), failures: 0 });
  }
}
