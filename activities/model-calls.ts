import { setTimeout as delay } from 'node:timers/promises';
import type { ModelTurnInput, NextMove } from '../contracts';

/**
 * Model calls under way in this worker. A call outlives the activity that started it: one that is quick is over within
 * the workflow task that asked for it, and one that is not is joined by an ordinary activity, which can be seen, stopped
 * and missed. Whoever asks for a turn that is under way here joins it; there is never a second call beside it.
 */
export interface ModelCalls {
  /** Starts or joins the call and waits a moment for it; null when it goes on. */
  start(turn: ModelTurnInput, signal: AbortSignal): Promise<NextMove | null>;
  /** Starts or joins the call and waits for its end. A signal that aborts ends the call, unless others wait for it. */
  follow(turn: ModelTurnInput, signal: AbortSignal): Promise<NextMove>;
  /** Once no more calls are started: resolves when all that go on were joined, or when the time is over. */
  joined(limitMs: number): Promise<void>;
}

export interface ModelCallsOptions {
  call: (turn: ModelTurnInput, signal: AbortSignal) => Promise<NextMove>;
  /** How long `start` waits, in milliseconds. Its workflow can be told nothing in that time. */
  startWaitMs?: number;
  /** How long a call goes on that nobody waits for: its workflow may have ended or gone on elsewhere. */
  unattendedMs?: number;
}

interface Call {
  outcome: Promise<NextMove>;
  abort: AbortController;
  attendants: number;
  unattended: NodeJS.Timeout | null;
  over: boolean;
}

const START_WAIT_MS = 500;
const UNATTENDED_MS = 10_000;
const JOINED_POLL_MS = 20;

export function createModelCalls(options: ModelCallsOptions): ModelCalls {
  const { call: begin, startWaitMs = START_WAIT_MS, unattendedMs = UNATTENDED_MS } = options;
  const calls = new Map<string, Call>();

  function join(turn: ModelTurnInput): Call {
    const key = `${turn.runId}/${turn.turn}`;
    const known = calls.get(key);
    // One that was ended is only on its way out.
    if (known !== undefined && !known.abort.signal.aborted) return known;
    const abort = new AbortController();
    const outcome = begin(turn, abort.signal).finally(() => {
      call.over = true;
      if (calls.get(key) === call) calls.delete(key);
    });
    const call: Call = { outcome, abort, attendants: 0, unattended: null, over: false };
    // Nobody may be waiting when it fails; whoever asks next starts anew.
    outcome.catch(() => undefined);
    calls.set(key, call);
    return call;
  }

  async function attend<T>(call: Call, signal: AbortSignal, others: Promise<T>[]): Promise<NextMove | T> {
    if (call.unattended !== null) clearTimeout(call.unattended);
    call.attendants += 1;
    let leave: (reason: unknown) => void = () => undefined;
    const left = new Promise<never>((_, reject) => (leave = reject));
    left.catch(() => undefined);
    // An attempt that was given up must not take the call from the attempt that followed it.
    const stop = () => (call.attendants === 1 ? call.abort.abort(signal.reason) : leave(signal.reason));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    try {
      return await Promise.race([call.outcome, left, ...others]);
    } finally {
      signal.removeEventListener('abort', stop);
      call.attendants -= 1;
      if (call.attendants === 0 && !call.over) {
        call.unattended = setTimeout(() => call.abort.abort(), unattendedMs).unref();
      }
    }
  }

  return {
    async start(turn, signal) {
      let timer: NodeJS.Timeout | undefined;
      const moment = new Promise<null>((resolve) => {
        timer = setTimeout(() => resolve(null), startWaitMs);
      });
      try {
        return await attend(join(turn), signal, [moment]);
      } finally {
        clearTimeout(timer);
      }
    },
    follow: (turn, signal) => attend(join(turn), signal, []),
    async joined(limitMs) {
      // Until then those that start a call wait for it themselves.
      await delay(startWaitMs);
      const isAlone = () => [...calls.values()].some((call) => call.attendants === 0);
      for (const deadline = Date.now() + limitMs; isAlone() && Date.now() < deadline;) await delay(JOINED_POLL_MS);
    },
  };
}
