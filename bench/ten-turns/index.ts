/**
 * A run of ten turns (a file tool each, a model without delay), from its creation to its end, beside a bare Temporal
 * workflow of ten empty activities, and one of the same shape, on the same server. Prints all three and the ratios.
 */
import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
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

async function bareWorkflows(client: Client, address: string): Promise<{ activities: number; turns: number }> {
  const taskQueue = `bare-${randomUUID()}`;
  const connection = await NativeConnection.connect({ address });
  const worker = await Worker.create({
    connection,
    taskQueue,
    workflowsPath: require.resolve('./bare-workflow'),
    activities: { nothing: async () => undefined },
  });
  const execute = (type: string) => async (): Promise<unknown> =>
    client.workflow.execute(type, { workflowId: randomUUID(), taskQueue, args: [TURNS] });
  const medians = await worker.runUntil(async () => ({
    activities: median(await repeat(execute('bare'))),
    turns: median(await repeat(execute('bareTurns'))),
  }));
  await connection.close();
  return medians;
}

async function main(): Promise<void> {
  Runtime.install({ logger: new DefaultLogger('WARN') });
  const services = await startTestServices();
  process.env['TEST_DATABASE_URL'] = services.databaseUrl;
  process.env['TEST_TEMPORAL_ADDRESS'] = services.temporalAddress;
  const connection = await Connection.connect({ address: services.temporalAddress });
  const client = new Client({ connection });
  const bare = await bareWorkflows(client, services.temporalAddress);
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

  const ours = median(times);
  console.log(`bare workflow of ${TURNS} activities             ${round(bare.activities)} ms`);
  console.log(`bare workflow of the shape of ${TURNS} turns     ${round(bare.turns)} ms`);
  console.log(
    `run of ${TURNS} turns, create to end             ${round(ours)} ms, first event ${round(median(firstEvents))} ms`,
  );
  console.log(
    `ratio to ${TURNS} activities ${(ours / bare.activities).toFixed(2)}, to the same shape ${(ours / bare.turns).toFixed(2)}`,
  );
  console.log(`last run: ${rows[0]?.status}, ${rows[0]?.llm_call_count} model calls, ${events.length} history events`);
  await product.close();
  await connection.close();
  await services.stop();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
