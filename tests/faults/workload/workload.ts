/** Runs of random plans, started over any API and followed on all, with a record of everything for the checker. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { JsonObject, RunRecord } from '../../../contracts';
import type { AcceptedRun, Subscription } from '../checker';
import { SECRET_TEXT } from '../checker';
import type { Cluster } from '../cluster/cluster';
import type { Slot } from '../cluster/slot';
import type { Plan } from '../model/plans';
import { TURN_KINDS, effectFilesOf, planText } from '../model/plans';
import type { Random } from '../random';
import type { Subscriber } from './subscriber';
import { subscribe } from './subscriber';

export interface WorkloadRun extends AcceptedRun {
  plan: Plan;
  /** Whose run it is, for the report. */
  label: string;
  readonly hasEnded: boolean;
}

export interface StartOptions {
  /** The API that is asked first; any unless given. */
  api?: Slot;
  plan?: Partial<Plan>;
  /** Waits on a thread that has a run. */
  threadId?: string;
}

export interface Workload {
  start(options?: StartOptions): Promise<WorkloadRun>;
  /** Asks until a server has taken the wish. */
  cancel(run: WorkloadRun, action: 'interrupt' | 'rollback', api?: Slot): Promise<void>;
}

/** Everything that was started on a cluster. */
export interface Ledger {
  runs: WorkloadRun[];
  subscribers: Subscriber[];
  effectFiles: string[];
  subscriptions(): Subscription[];
  /** Waits until every run has ended and every reader has read its end; what is not over then is left as it is. */
  settle(timeoutMs: number): Promise<void>;
}

const MODES: Subscription['modes'] = ['messages-tuple', 'values', 'updates', 'custom'];
const REQUEST_LIMIT_MS = 12_000;
const ACCEPT_LIMIT_MS = 180_000;
const PAUSE_MS = 250;

export function createLedger(cluster: Cluster): Ledger {
  const ledger: Ledger = {
    runs: [],
    subscribers: [],
    effectFiles: [],
    subscriptions: () => ledger.subscribers.map(({ subscription }) => subscription),
    async settle(timeoutMs) {
      const deadline = Date.now() + timeoutMs;
      for (;;) {
        const open = await openRuns(cluster);
        const reading = ledger.subscribers.filter(({ hasEnded }) => !hasEnded);
        if (open === 0 && reading.length === 0) return;
        if (Date.now() > deadline) {
          for (const subscriber of reading) subscriber.giveUp();
          return;
        }
        await delay(PAUSE_MS);
      }
    },
  };
  return ledger;
}

/** Every run that is stored, whether or not its client heard of it. */
async function openRuns({ pool }: Cluster): Promise<number> {
  const found = await pool
    .query<{ open: number }>("select count(*)::int as open from runs where admission <> 'ended'")
    .catch(() => null);
  return found?.rows[0]?.open ?? 1;
}

export function createWorkload(cluster: Cluster, ledger: Ledger, random: Random, label: string): Workload {
  async function start({ api, plan: given, threadId = randomUUID() }: StartOptions = {}): Promise<WorkloadRun> {
    const plan = { ...randomPlan(random), ...given };
    const text = planText(plan);
    const first = api ?? random.pick(cluster.apis);
    const body = {
      assistant_id: 'lead_agent',
      input: { messages: [{ role: 'user', content: text }] },
      stream_mode: MODES,
      multitask_strategy: 'enqueue',
      context: { secrets: { SERVICE_TOKEN: `${SECRET_TEXT} ${plan.key}` } },
    };
    await persist(first, (slot) => post(slot, '/api/threads', { thread_id: threadId }));
    const headers = { 'idempotency-key': plan.key };
    const run = await persist(first, (slot) => post<RunRecord>(slot, `/api/threads/${threadId}/runs`, body, headers));
    const { run_id: runId } = run;
    ledger.effectFiles.push(
      ...effectFilesOf(plan)
        .map((name) => join(cluster.home, 'users/default/threads', threadId, 'user-data/workspace', name))
        .filter((file) => !ledger.effectFiles.includes(file)),
    );
    const readers = follow(threadId, runId);
    ledger.subscribers.push(...readers);
    const started: WorkloadRun = {
      runId,
      threadId,
      plan,
      label,
      get hasEnded() {
        return readers.some(({ hasEnded }) => hasEnded);
      },
    };
    ledger.runs.push(started);
    return started;
  }

  /** One reader at each API, and at times one that hangs up again and again and comes back somewhere else. */
  function follow(threadId: string, runId: string): Subscriber[] {
    const common = { threadId, runId, modes: MODES };
    const readers = cluster.apis.map((slot) => subscribe({ ...common, reader: `at ${slot.name}`, api: () => slot }));
    if (!random.chance(0.4)) return readers;
    const draws = random.fork(runId);
    const wanderer = subscribe({
      ...common,
      reader: 'wandering',
      api: () => draws.pick(cluster.apis),
      hangUpAfter: () => draws.integer(1, 30),
    });
    return [...readers, wanderer];
  }

  /** A client that does not let go: the same request, to one API after the other, until one has taken it. */
  async function persist<T>(first: Slot, request: (slot: Slot) => Promise<T>): Promise<T> {
    const others = cluster.apis.filter((slot) => slot !== first);
    const deadline = Date.now() + ACCEPT_LIMIT_MS;
    for (let attempt = 0; ; attempt += 1) {
      const slot = [first, ...others][attempt % cluster.apis.length] ?? first;
      try {
        return await request(slot);
      } catch (error) {
        if (error instanceof Refusal || Date.now() > deadline) throw error;
        await delay(PAUSE_MS);
      }
    }
  }

  return {
    start,
    async cancel(run, action, api = random.pick(cluster.apis)) {
      run.cancelled = action;
      const path = `/api/threads/${run.threadId}/runs/${run.runId}/cancel?action=${action}`;
      await persist(api, (slot) => post(slot, path, undefined)).catch((error: unknown) => {
        // It had ended.
        if (!(error instanceof Refusal)) throw error;
      });
    },
  };
}

/** The server understood the request and will not do it. */
class Refusal extends Error {}

async function post<T>(
  slot: Slot,
  path: string,
  body: JsonObject | undefined,
  headers: Record<string, string> = {},
): Promise<T> {
  const response = await fetch(slot.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
    signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
  });
  const text = await response.text();
  if (response.status >= 500) throw new Error(`${slot.name} answered ${response.status}: ${text}`);
  if (response.status >= 400) throw new Refusal(`${path} was refused with ${response.status}: ${text}`);
  return (text === '' ? null : JSON.parse(text)) as T;
}

function randomPlan(random: Random): Plan {
  return {
    key: `key-${random.word(10)}`,
    turns: Array.from({ length: random.integer(1, 4) }, () => random.pick(TURN_KINDS)),
    tokens: random.integer(5, 40),
    gap: random.integer(0, 25),
    delay: random.chance(0.3) ? random.integer(50, 600) : 0,
  };
}
