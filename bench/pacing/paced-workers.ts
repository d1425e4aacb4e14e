/** Runs of several worker processes that share the pace of a model, and the death of one of the workers among them. */
import { setTimeout as delay } from 'node:timers/promises';
import { ask } from '../../tests/support/product/client';
import type { BenchContext } from '../benchmark';
import type { Referee } from '../referee';
import type { Servers } from '../servers';
import type { System } from '../system';
import type { PacedCall } from './arrivals';

export interface PacedWorkersOptions {
  servers: Servers;
  workers: number;
  calls: number;
  perMinute: number;
  /** One of the workers is killed after so many calls. */
  killAfter: number;
}

interface Waiting {
  tag: string;
  threadId: string;
  runId: string;
  /** Its place in the queue; null for the first, which need not wait. */
  ticket: number | null;
}

const PACED = 'paced';
const LOOK_MS = 10;
const LIMIT_MS = 60_000;
/** Runs that let every worker do its first work before anything counts. */
const WARM_UP_RUNS = 24;
/** A place is kept for a dead worker for five seconds. */
const AFTERMATH_MS = 7_000;

/** One call a run. They begin one after the other, each when the one before it waits. */
export async function pacedWorkers(context: BenchContext, options: PacedWorkersOptions): Promise<PacedCall[]> {
  const { servers, workers, calls, perMinute, killAfter } = options;
  const referee = await context.referee();
  const entry = {
    use: 'langchain_openai:ChatOpenAI',
    model: 'referee',
    api_key: 'no-secret',
    base_url: referee.baseUrl,
  };
  const request_admission = { requests_per_minute: perMinute, group: 'account' };
  const models = [
    { name: 'referee', ...entry },
    { name: PACED, ...entry, request_admission },
  ];
  const system = await context.system({ servers, referee, workers, config: { models } });
  await Promise.all(Array.from({ length: WARM_UP_RUNS }, (_, index) => warmUp(system, index)));

  const begun: Waiting[] = [];
  for (let number = 1; number <= calls; number += 1) {
    context.signal.throwIfAborted();
    begun.push(await begin(system, referee, number));
  }
  context.log(`${calls} runs wait`);
  await until(async () => arrived(await askedAt(referee), begun) >= killAfter, context.signal);
  // Between two calls, so that none is under way: its answer would be lost and it would be made again.
  await delay(30_000 / perMinute, undefined, { signal: context.signal });
  await system.workers[1]?.kill();
  context.log(`a worker was killed after ${arrived(await askedAt(referee), begun)} calls`);
  const disturbed = await lostPlaces(system, referee, begun, context.signal);
  context.note(
    `${calls} calls at ${perMinute} a minute over ${workers} worker processes, one killed after ${killAfter} calls: ` +
      `${disturbed.size} calls waited in it and went to the end of the queue.`,
  );
  for (const { threadId, runId } of begun) {
    const { status } = await system.api.ended(threadId, runId, calls * (60_000 / perMinute) + LIMIT_MS);
    if (status !== 'success') context.broken(`a paced run ended with status ${status}`);
  }
  const times = await askedAt(referee);
  await system.close();
  return begun.map(({ tag }, index) => ({
    number: index + 1,
    arrivedAt: times[tag] ?? [],
    disturbed: disturbed.has(tag),
  }));
}

async function warmUp({ api }: System, index: number): Promise<void> {
  const body = ask(`PLAN:tokens=1 tag=warm-${index}`, { stream_mode: ['updates'] });
  await api.stream({ path: '/api/runs/stream', body, until: ({ event }) => event === 'end' });
}

/** Returns when its call waits, or was made because none waited before it. */
async function begin(system: System, referee: Referee, number: number): Promise<Waiting> {
  const tag = `paced-${number}`;
  const threadId = await system.api.newThread();
  const before = await lastTicket(system);
  const body = ask(`PLAN:tokens=1 tag=${tag}`, { context: { model_name: PACED } });
  const { body: run } = await system.api.request<{ run_id: string }>('POST', `/api/threads/${threadId}/runs`, body);
  let ticket: number | null = null;
  await until(async () => {
    const last = await lastTicket(system);
    ticket = last > before ? last : null;
    return ticket !== null || (await askedAt(referee))[tag] !== undefined;
  });
  return { tag, threadId, runId: run.run_id, ticket };
}

async function lastTicket({ pool }: System): Promise<number> {
  const { rows } = await pool.query<{ last: number }>(
    'select coalesce(max(ticket), 0)::int as last from model_waiters',
  );
  return rows[0]?.last ?? 0;
}

/** The runs whose place in the queue was given up without their call being made. */
async function lostPlaces(
  { pool }: System,
  referee: Referee,
  begun: readonly Waiting[],
  signal: AbortSignal,
): Promise<Set<string>> {
  await delay(AFTERMATH_MS, undefined, { signal });
  const { rows } = await pool.query<{ ticket: number }>('select ticket::int from model_waiters');
  const kept = new Set<number | null>(rows.map(({ ticket }) => ticket));
  // Who had just left the queue is on its way to the model.
  await delay(100, undefined, { signal });
  const times = await askedAt(referee);
  const lost = begun.filter(({ tag, ticket }) => !kept.has(ticket) && times[tag] === undefined);
  return new Set(lost.map(({ tag }) => tag));
}

async function askedAt(referee: Referee): Promise<Record<string, readonly number[]>> {
  const { askedAt: turns } = await referee.counts();
  return Object.fromEntries(Object.entries(turns).map(([tag, [first = []]]) => [tag, first]));
}

function arrived(times: Record<string, readonly number[]>, begun: readonly Waiting[]): number {
  return begun.filter(({ tag }) => times[tag] !== undefined).length;
}

async function until(condition: () => Promise<boolean>, signal?: AbortSignal): Promise<void> {
  const deadline = Date.now() + LIMIT_MS;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error('The calls did not come.');
    await delay(LOOK_MS, undefined, { signal });
  }
}
