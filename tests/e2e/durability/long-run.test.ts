import { runWorkflowId } from '../../../contracts';
import { historySizes } from '../../support/history-sizes';
import type { HistorySize } from '../../support/history-sizes';
import type { ApiClient, Product } from '../../support/product';
import { createApiClient, startProduct } from '../../support/product';
import { expectSoundRun } from '../../support/product/invariants';
import { lastText, startRun } from './support';

const TURNS = 1_000;
const MEBIBYTE = 1024 * 1024;
const MAX_HISTORY_EVENTS = 4_096;
const MAX_HISTORY_BYTES = 4 * MEBIBYTE;

let product: Product;
let api: ApiClient;

beforeAll(async () => {
  product = await startProduct({ config: { max_recursion_limit: 3_000 } });
  api = createApiClient(() => product.url);
});
afterAll(() => product.close());

interface Stretch {
  /** Bytes of all rows that a turn adds, on average. */
  bytesPerTurn: number;
  msPerTurn: number;
}

/** What the turns from one to another cost; every turn has one reply and one result of a tool. */
async function stretch(runId: string, from: number, to: number): Promise<Stretch> {
  const { rows } = await product.pool.query<{ bytes: number; ms: number }>(
    `with bounds as (
       select min(m.since) as first, max(m.since) as last from model_turns t join thread_messages m using (message_id)
       where t.run_id = $1 and t.turn >= $2 and t.turn < $3),
     steps as (
       select c.* from checkpoints c, bounds where c.run_id = $1 and c.watermark >= first and c.watermark < last)
     select extract(epoch from max(created_at) - min(created_at))::float8 * 1000 as ms, (
         (select sum(pg_column_size(s.*)) from steps s)
         + (select sum(pg_column_size(m.*)) from thread_messages m, bounds
            where m.run_id = $1 and m.since >= first and m.since < last)
         + (select sum(pg_column_size(j.*)) from run_journal j, bounds
            where j.run_id = $1 and j.message_since >= first and j.message_since < last)
         + (select sum(pg_column_size(e.*)) from run_events e, bounds
            where e.run_id = $1 and e.message_since >= first and e.message_since < last)
         + (select sum(pg_column_size(c.*)) from tool_calls c where c.run_id = $1 and turn >= $2 and turn < $3)
         + (select sum(pg_column_size(t.*)) from model_turns t where t.run_id = $1 and turn >= $2 and turn < $3)
       )::int as bytes
     from steps`,
    [runId, from, to],
  );
  const turns = to - from;
  return { bytesPerTurn: (rows[0]?.bytes ?? 0) / turns, msPerTurn: (rows[0]?.ms ?? 0) / turns };
}

function expectBounded(sizes: readonly HistorySize[]): void {
  for (const { events, bytes } of sizes) {
    expect(events).toBeLessThan(MAX_HISTORY_EVENTS);
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThan(MAX_HISTORY_BYTES);
  }
}

test('a run whose steps take many events goes on in a new execution before its history is long', async () => {
  const turns = 450;
  const { runId, threadId } = await startRun(api, `PLAN:tools=${turns} tool=bash tokens=2`, {
    config: { recursion_limit: 3_000 },
  });
  const record = await api.ended(threadId, runId, 120_000);
  expect(record).toMatchObject({ status: 'success', llm_call_count: turns + 1 });
  await expectSoundRun(product.pool, runId);
  const sizes = await historySizes(product.temporal, runWorkflowId(runId));
  expect(sizes.length).toBeGreaterThan(1);
  expectBounded(sizes);
}, 150_000);

describe('a run of a thousand turns', () => {
  test('ends with success, in histories of bounded size, and its last turns store no more than its first', async () => {
    // Kept requests would hold the whole conversation a thousand times.
    const forget = setInterval(() => (product.model.requests.length = 0), 50);
    const begun = Date.now();
    const { threadId, runId } = await startRun(api, `PLAN:tools=${TURNS - 1} tool=ls tokens=2`, {
      config: { recursion_limit: 3_000 },
      stream_mode: ['messages-tuple', 'values', 'updates'],
    });
    const record = await api.ended(threadId, runId, 240_000).finally(() => clearInterval(forget));
    const seconds = (Date.now() - begun) / 1000;
    expect(record).toMatchObject({ status: 'success', llm_call_count: TURNS });
    expect(await lastText(api, threadId)).toBe('done w1 w2');
    await expectSoundRun(product.pool, runId);

    const sizes = await historySizes(product.temporal, runWorkflowId(runId));
    expectBounded(sizes);

    const [first, early, last] = await Promise.all([
      stretch(runId, 2, 102),
      stretch(runId, 10, 110),
      stretch(runId, TURNS - 100, TURNS),
    ]);
    expect(first.bytesPerTurn).toBeGreaterThan(500);
    expect(last.bytesPerTurn / first.bytesPerTurn).toBeLessThan(1.1);
    console.log(
      `${TURNS} turns in ${seconds.toFixed(1)} s; ms a turn: ${early.msPerTurn.toFixed(1)} in turns 10 to 110, ` +
        `${last.msPerTurn.toFixed(1)} in the last 100; bytes a turn: ${first.bytesPerTurn.toFixed(0)} in the first ` +
        `100, ${last.bytesPerTurn.toFixed(0)} in the last 100; histories: ${JSON.stringify(sizes)}`,
    );
  }, 300_000);
});
