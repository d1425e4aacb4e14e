/**
 * A run of ten turns (a file tool each, a model without delay), from its creation to its end, beside a bare Temporal
 * workflow of ten empty activities on the same server. Prints both and their ratio; says where the time goes.
 */
import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import type { RunRecord } from '../../contracts';
import { runWorkflowId } from '../../contracts';
import { ask, createApiClient, startProduct } from '../../tests/support/product';
import { startTestServices } from '../../tests/support/services';

const REPEATS = 30;
const WARM_UP = 5;
const TURNS = 10;

const median = (values: number[]): number => [...values].sort((left, right) => left - right)[values.length >> 1] ?? 0;
const round = (value: number): string => value.toFixed(1);

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

async function repeat(work: () => Promise<unknown>): Promise<number[]> {
  for (let index = 0; index < WARM_UP; index += 1) await work();
  const times: number[] = [];
  for (let index = 0; index < REPEATS; index += 1) times.push(await timed(work));
  return times;
}

async function bareWorkflow(client: Client, address: string): Promise<number[]> {
  const taskQueue = `bare-${randomUUID()}`;
  const connection = await NativeConnection.connect({ address });
  const worker = await Worker.create({
    connection,
    taskQueue,
    workflowsPath: require.resolve('./bare-workflow'),
    activities: { nothing: async () => undefined },
  });
  const times = await worker.runUntil(
    repeat(() => client.workflow.execute('bare', { workflowId: randomUUID(), taskQueue, args: [TURNS] })),
  );
  await connection.close();
  return times;
}

async function main(): Promise<void> {
  const services = await startTestServices();
  process.env['TEST_DATABASE_URL'] = services.databaseUrl;
  process.env['TEST_TEMPORAL_ADDRESS'] = services.temporalAddress;
  const connection = await Connection.connect({ address: services.temporalAddress });
  const client = new Client({ connection });
  const bare = await bareWorkflow(client, services.temporalAddress);
  const product = await startProduct({ config: { recursion_limit: 200 } });
  const api = createApiClient(() => product.url);
  let last = '';
  const firstEvents: number[] = [];
  const run = async (): Promise<void> => {
    const begun = performance.now();
    const { frames } = await api.stream({
      path: '/api/runs/stream',
      body: ask(`PLAN:tools=${TURNS - 1} tool=ls tokens=3`, { stream_mode: ['values'] }),
      until: (frame, all) => {
        if (all.length === 1) firstEvents.push(performance.now() - begun);
        return frame.event === 'end';
      },
    });
    last = (frames[0]?.data as { run_id: string }).run_id;
  };
  const times = await repeat(run);
  const { rows } = await product.pool.query<RunRecord>('select status, llm_call_count from runs where run_id = $1', [
    last,
  ]);
  await client.workflow.getHandle(runWorkflowId(last)).result();
  const events = (await client.workflow.getHandle(runWorkflowId(last)).fetchHistory()).events ?? [];

  console.log(`bare workflow of ${TURNS} activities   median ${round(median(bare))} ms`);
  console.log(
    `run of ${TURNS} turns, create to end    median ${round(median(times))} ms, first event ${round(median(firstEvents))} ms`,
  );
  console.log(`ratio                           ${(median(times) / median(bare)).toFixed(2)}`);
  console.log(`last run: ${rows[0]?.status}, ${rows[0]?.llm_call_count} model calls, ${events.length} history events`);
  await product.close();
  await connection.close();
  await services.stop();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
