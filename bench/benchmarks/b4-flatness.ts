import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { RunRecord } from '../../contracts';
import { runWorkflowId } from '../../contracts';
import { ask } from '../../tests/support/product/client';
import type { BenchContext, Benchmark, Row } from '../benchmark';
import type { Reading, Window } from '../flatness';
import { historySizes } from '../../tests/support/history-sizes';
import { commitTimes, faultOf, growthPerTurn, medianMsPerTurn, storedNow } from '../flatness';
import { cpuSeconds } from '../processes';
import type { Referee } from '../referee';
import { sample } from '../statistics';
import type { System } from '../system';

const TURNS = 1_000;
const QUICK_TURNS = 250;
/** Turns that are taken together: a single one says little. */
const WINDOW = 100;
const EARLY = 10;

const READ_EVERY_MS = 500;
const RUN_LIMIT_MS = 600_000;
const KILOBYTE = 1_000;
const MEBIBYTE = 1024 * 1024;

/** What the official web client asks for. */
const STREAM_MODES = ['values', 'messages-tuple', 'updates', 'custom'];

const CPU_PARTS = ['worker', 'postgres', 'temporal', 'referee'] as const;

const CPU_NAMES: Record<CpuPart, string> = {
  worker: 'the worker',
  postgres: 'PostgreSQL',
  temporal: 'Temporal',
  referee: 'the model',
};

type CpuPart = (typeof CPU_PARTS)[number];

type Readings = Record<'stored' | CpuPart, Reading[]>;

interface Measured {
  earlyMs: number;
  lateMs: number;
  /** Bytes per turn, indexes included: of the whole run, and of its early and late turns. */
  stored: number;
  earlyStored: number;
  lateStored: number;
  /** Milliseconds of CPU per early and per late turn. */
  cpu: Record<CpuPart, { early: number; late: number }>;
  historyBytesPerTurn: number;
  largestHistoryBytes: number;
  largestHistoryEvents: number;
  executions: number;
}

export const flatness: Benchmark = {
  name: 'B4',
  title: 'Flatness of a long run',
  about:
    `One run of ${TURNS} turns, each a model call and a file tool. Times are medians over ${WINDOW} turns, from the ` +
    `commit of one reply to that of the next: turns ${EARLY} to ${EARLY + WINDOW} against the last ${WINDOW}. The ` +
    'request to the model grows with the conversation, on every system; that share is in the figures. Stored bytes ' +
    'are what all tables with their indexes grew by on disk.',
  async run(context) {
    const turns = context.quick ? QUICK_TURNS : TURNS;
    const [servers, referee] = [await context.servers(), await context.referee()];
    const config = { max_recursion_limit: 3 * TURNS };
    const system = await context.system({ servers, referee, config });
    const repeats: Measured[] = [];
    for (let repeat = 1; repeat <= context.repeats; repeat += 1) {
      context.signal.throwIfAborted();
      const measured = await measure(context, { system, referee }, turns);
      context.log(
        `repeat ${repeat}: turn ${EARLY} ${measured.earlyMs.toFixed(1)} ms, turn ${turns} ` +
          `${measured.lateMs.toFixed(1)} ms, ${Math.round(measured.stored)} bytes a turn`,
      );
      repeats.push(measured);
    }
    return rowsOf(repeats, turns);
  },
};

interface Parties {
  system: System;
  referee: Referee;
}

async function measure(context: BenchContext, parties: Parties, turns: number): Promise<Measured> {
  const { system } = parties;
  const early: Window = { from: EARLY, to: EARLY + WINDOW };
  const late: Window = { from: turns - WINDOW, to: turns };
  const { runId, readings } = await makeRun(context, parties, turns);
  const fault = await faultOf(system.pool, runId, turns);
  if (fault !== null) context.broken(fault);
  const commits = await commitTimes(system.pool, runId);
  const histories = await historySizes(system.temporal, runWorkflowId(runId));
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
  return {
    earlyMs: medianMsPerTurn(commits, early),
    lateMs: medianMsPerTurn(commits, late),
    stored: growthPerTurn(readings.stored, { from: 0, to: turns }),
    earlyStored: growthPerTurn(readings.stored, early),
    lateStored: growthPerTurn(readings.stored, late),
    cpu: {
      worker: cpuOf(readings.worker, early, late),
      postgres: cpuOf(readings.postgres, early, late),
      temporal: cpuOf(readings.temporal, early, late),
      referee: cpuOf(readings.referee, early, late),
    },
    historyBytesPerTurn: sum(histories.map(({ bytes }) => bytes)) / turns,
    largestHistoryBytes: Math.max(...histories.map(({ bytes }) => bytes)),
    largestHistoryEvents: Math.max(...histories.map(({ events }) => events)),
    executions: histories.length,
  };
}

function cpuOf(readings: readonly Reading[], early: Window, late: Window): { early: number; late: number } {
  return { early: growthPerTurn(readings, early) * 1000, late: growthPerTurn(readings, late) * 1000 };
}

/** Makes the run, and looks now and then at what it has used and stored. */
async function makeRun(
  context: BenchContext,
  parties: Parties,
  turns: number,
): Promise<{ runId: string; readings: Readings }> {
  const { api } = parties.system;
  const threadId = randomUUID();
  const readings: Readings = { stored: [], worker: [], postgres: [], temporal: [], referee: [] };
  await takeReadings(parties, randomUUID(), readings);
  const { body, status } = await api.request<RunRecord>(
    'POST',
    `/api/threads/${threadId}/runs`,
    ask(`PLAN:tools=${turns - 1} tool=ls tokens=8`, { if_not_exists: 'create', stream_mode: STREAM_MODES }),
  );
  if (status !== 200) throw new Error(`the run was refused with status ${status}: ${JSON.stringify(body)}`);
  const deadline = Date.now() + RUN_LIMIT_MS;
  for (let turn = 0; turn < turns;) {
    await delay(READ_EVERY_MS, undefined, { signal: context.signal });
    turn = await takeReadings(parties, body.run_id, readings);
    if (Date.now() > deadline) throw new Error(`the run made ${turn} of ${turns} turns in time`);
  }
  const { status: ended } = await api.ended(threadId, body.run_id);
  if (ended !== 'success') throw new Error(`the run ended with status ${ended}`);
  return { runId: body.run_id, readings };
}

async function takeReadings({ system, referee }: Parties, runId: string, readings: Readings): Promise<number> {
  const { turn, bytes } = await storedNow(system.pool, runId);
  const { worker, postgres, temporal } = system.pids();
  readings.stored.push({ turn, value: bytes });
  readings.worker.push({ turn, value: cpuSeconds(worker) });
  readings.postgres.push({ turn, value: cpuSeconds(postgres) });
  readings.temporal.push({ turn, value: cpuSeconds(temporal) });
  readings.referee.push({ turn, value: cpuSeconds(referee.pid) });
  return turn;
}

function rowsOf(repeats: readonly Measured[], turns: number): Row[] {
  const row = (metric: string, unit: string, value: (measured: Measured) => number, limit?: number): Row => ({
    metric,
    unit,
    better: 'lower',
    product: sample(repeats.map(value)),
    peers: {},
    ...(limit === undefined ? {} : { targets: [{ limit }] }),
  });
  return [
    row(`a turn around turn ${EARLY}`, 'ms', ({ earlyMs }) => earlyMs),
    row(`a turn around turn ${turns}`, 'ms', ({ lateMs }) => lateMs),
    row(`turn ${turns} against turn ${EARLY}`, 'times', ({ earlyMs, lateMs }) => lateMs / earlyMs, 1.2),
    row('stored per turn, with indexes', 'KB', ({ stored }) => stored / KILOBYTE, 25),
    row(`stored per turn around turn ${EARLY}`, 'KB', ({ earlyStored }) => earlyStored / KILOBYTE),
    row(`stored per turn around turn ${turns}`, 'KB', ({ lateStored }) => lateStored / KILOBYTE),
    row('history per turn', 'KB', ({ historyBytesPerTurn }) => historyBytesPerTurn / KILOBYTE),
    row('largest history', 'MiB', ({ largestHistoryBytes }) => largestHistoryBytes / MEBIBYTE, 4),
    row('events of the largest history', 'events', ({ largestHistoryEvents }) => largestHistoryEvents),
    row('executions of the workflow', 'executions', ({ executions }) => executions),
    ...CPU_PARTS.flatMap((part) => [
      row(`CPU of ${CPU_NAMES[part]} around turn ${EARLY}`, 'ms/turn', ({ cpu }) => cpu[part].early),
      row(`CPU of ${CPU_NAMES[part]} around turn ${turns}`, 'ms/turn', ({ cpu }) => cpu[part].late),
    ]),
  ];
}
