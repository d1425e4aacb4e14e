import { randomUUID } from 'node:crypto';
import type { RunEventKind, RunRecord, StreamMode } from '../../contracts';
import { wantsKind } from '../../core/stream-events';
import { ask } from '../../tests/support/product/client';
import type { BenchContext, Benchmark, Row } from '../benchmark';
import { cpuSeconds } from '../processes';
import type { Readers, ReadReport } from '../readers';
import { readerFault, startReaders } from '../readers';
import { percentile, sample } from '../statistics';
import type { System } from '../system';

const LEVELS = [1, 10, 100, 500];
const QUICK_LEVELS = [1, 10, 100];
const TOKENS = 500;
const QUICK_TOKENS = 150;
/** The pace of a fast model. */
const TOKENS_PER_SECOND = 50;
const APIS = 2;

/** One reader in five is cut off, and comes back, the whole time. */
const UNSTEADY_SHARE = 0.2;
const CUT_AFTER_MS: [number, number] = [500, 2_000];

/** Time to connect all readers before the first token. */
const CONNECT_MS = 1_500;
const CONNECT_MS_PER_READER = 8;
/** Beyond the time that the stream takes by itself. */
const PATIENCE_MS = 60_000;

const MODES: StreamMode[] = ['messages-tuple', 'values'];
const TARGET_LEVEL = 100;
const TARGET_MS = 150;

interface Measured {
  eventMedian: number;
  event99: number;
  token99: number;
  /** Of the readers that are cut off; null where there are none. */
  unsteady99: number | null;
  apiCores: number;
  readerCores: number;
  loopDelayMs: number;
}

export const streamLag: Benchmark = {
  name: 'B6',
  title: 'Lag of a stream',
  about:
    `One run streams ${TOKENS} tokens at ${TOKENS_PER_SECOND} a second to 1, 10, 100 and 500 subscribers, spread over ` +
    `${APIS} API processes. A fifth of ten or more is cut off every ${CUT_AFTER_MS[0] / 1000} to ` +
    `${CUT_AFTER_MS[1] / 1000} seconds and comes back to the other API with its Last-Event-ID; what it misses ` +
    'meanwhile counts. Lag is the time from the commit of an event in PostgreSQL, or from the sending of a token by ' +
    'the model, to its arrival, over all subscribers. Nobody may miss an event or get one twice. The subscribers are ' +
    'a process of their own, on the same cores.',
  async run(context) {
    const levels = context.quick ? QUICK_LEVELS : LEVELS;
    const [servers, referee] = [await context.servers(), await context.referee()];
    const system = await context.system({ servers, referee, apis: APIS });
    const readers = await startReaders(context.signal);
    context.onClose(() => readers.close());
    const measured = new Map<number, Measured[]>(levels.map((level) => [level, []]));
    // The first streams of a process are slower than all others.
    await measure(context, system, readers, { level: 10, tokens: QUICK_TOKENS });
    for (let repeat = 1; repeat <= context.repeats; repeat += 1) {
      for (const level of levels) {
        const tokens = context.quick ? QUICK_TOKENS : TOKENS;
        const result = await measure(context, system, readers, { level, tokens });
        context.log(
          `repeat ${repeat}, ${level} subscribers: ${result.eventMedian.toFixed(1)} ms, 99th percentile ` +
            `${result.event99.toFixed(1)} ms, from the token ${result.token99.toFixed(1)} ms; ` +
            `APIs ${result.apiCores.toFixed(2)} cores, subscribers ${result.readerCores.toFixed(2)} cores, ` +
            `their own lateness ${result.loopDelayMs.toFixed(1)} ms`,
        );
        measured.get(level)?.push(result);
      }
    }
    return [...measured].flatMap(([level, repeats]) => rowsOf(level, repeats));
  },
};

interface Load {
  level: number;
  tokens: number;
}

async function measure(context: BenchContext, system: System, readers: Readers, load: Load): Promise<Measured> {
  const { level, tokens } = load;
  const unsteady = level < 10 ? 0 : Math.round(level * UNSTEADY_SHARE);
  const wait = CONNECT_MS + level * CONNECT_MS_PER_READER;
  const run = await startRun(system, `PLAN:ttft=${wait} tokens=${tokens} rate=${TOKENS_PER_SECOND} stamp=1`);
  const urls = system.apis.map(({ url }) => url);
  await readers.begin({ urls, path: run.path, readers: level, unsteady, cutAfterMs: CUT_AFTER_MS });
  const late = (await countTokens(system, run.runId)) > 0;
  if (late) context.note(`${level} subscribers: some were connected only after the first token`);
  const apiCpu = cpuSeconds(system.pids().api);
  const begun = performance.now();
  const limit = AbortSignal.timeout(wait + (tokens * 1000) / TOKENS_PER_SECOND + PATIENCE_MS);
  const report = await readers.finished(AbortSignal.any([context.signal, limit]));
  const seconds = (performance.now() - begun) / 1000;
  const apiCores = (cpuSeconds(system.pids().api) - apiCpu) / seconds;
  await checkReaders(context, system, report, { ...load, runId: run.runId });
  return { ...summary(report), apiCores };
}

async function startRun({ api }: System, plan: string): Promise<{ runId: string; path: string }> {
  const threadId = randomUUID();
  const { status, body } = await api.request<RunRecord>(
    'POST',
    `/api/threads/${threadId}/runs`,
    ask(plan, { if_not_exists: 'create', stream_mode: MODES }),
  );
  if (status !== 200) throw new Error(`the run was refused with status ${status}: ${JSON.stringify(body)}`);
  return { runId: body.run_id, path: `/api/threads/${threadId}/runs/${body.run_id}/stream` };
}

async function countTokens({ pool }: System, runId: string): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    "select count(*)::int as count from run_events where run_id = $1 and kind = 'text-delta'",
    [runId],
  );
  return rows[0]?.count ?? 0;
}

/** Holds what every reader got against what is stored. */
async function checkReaders(
  context: BenchContext,
  { pool }: System,
  report: ReadReport,
  { level, tokens, runId }: Load & { runId: string },
): Promise<void> {
  const { rows } = await pool.query<{ number: number; kind: RunEventKind }>(
    'select number, kind from run_events where run_id = $1 order by number',
    [runId],
  );
  // The end of a stream has no id.
  const shown = rows.filter(({ kind }) => kind !== 'run-end' && wantsKind(MODES, kind));
  const expected = { numbers: shown.map(({ number }) => number), tokens };
  for (const [place, reader] of report.readers.entries()) {
    const fault = readerFault(reader, expected);
    if (fault !== null) context.broken(`reader ${place + 1} of ${level}, after ${reader.reconnects} returns: ${fault}`);
    if (reader.broken > 0) context.broken(`reader ${place + 1} of ${level}: broken off ${reader.broken} times`);
  }
  const returns = report.readers.reduce((sum, reader) => sum + reader.reconnects, 0);
  context.log(`${level} subscribers: ${returns} returns, ${expected.numbers.length} events each`);
}

function summary(report: ReadReport): Omit<Measured, 'apiCores'> {
  const { readers } = report;
  const eventLags = readers.flatMap((reader) => reader.eventLags);
  const unsteady = readers.filter((reader) => reader.unsteady).flatMap((reader) => reader.eventLags);
  const tokenLags = readers.flatMap((reader) => reader.tokenLags);
  return {
    eventMedian: percentile(eventLags, 50),
    event99: percentile(eventLags, 99),
    token99: percentile(tokenLags, 99),
    unsteady99: unsteady.length === 0 ? null : percentile(unsteady, 99),
    readerCores: report.cpuSeconds / report.wallSeconds,
    loopDelayMs: report.loopDelayMs,
  };
}

function rowsOf(level: number, repeats: readonly Measured[]): Row[] {
  const row = (metric: string, unit: string, value: (measured: Measured) => number, limit?: number): Row => ({
    metric: `${level} subscribers: ${metric}`,
    unit,
    better: 'lower',
    product: sample(repeats.map(value)),
    peers: {},
    ...(limit === undefined ? {} : { targets: [{ limit }] }),
  });
  const limit = level === TARGET_LEVEL ? TARGET_MS : undefined;
  return [
    row('commit to arrival, median', 'ms', ({ eventMedian }) => eventMedian),
    row('commit to arrival, 99th percentile', 'ms', ({ event99 }) => event99, limit),
    row('token sent to arrival, 99th percentile', 'ms', ({ token99 }) => token99, limit),
    ...(repeats.some(({ unsteady99 }) => unsteady99 === null)
      ? []
      : [row('of those cut off, 99th percentile', 'ms', ({ unsteady99 }) => unsteady99 ?? 0)]),
    row('CPU of the APIs', 'cores', ({ apiCores }) => apiCores),
    row('CPU of the subscribers', 'cores', ({ readerCores }) => readerCores),
  ];
}
