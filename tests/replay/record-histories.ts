/**
 * Records the histories that `replay.test.ts` replays, from real runs of the real processes. Run it with
 * `npm run histories:record` after a change of the workflows that is meant to be seen by new runs only.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import type { JsonObject, RunRecord } from '../../contracts';
import { runWorkflowId } from '../../contracts';
import { call, calls, fail, hang, say } from '../support/fake-model';
import type { Step } from '../support/fake-model';
import { ask, createApiClient, startProduct } from '../support/product';
import type { ApiClient, Product } from '../support/product';
import { startTestServices } from '../support/services';
import { findInstallation } from '../../workers/stack/project-root';

const FOLDER = join(findInstallation(), 'tests', 'replay', 'histories');
const MARKER = 'MARKER-IN-CONTENT';
const SLEEP = 'sleep 2';
const LONG_RUN_TURNS = 450;

interface Recording {
  product: Product;
  api: ApiClient;
  client: Client;
}

interface Scenario {
  steps: Step[];
  extra?: JsonObject;
  /** What happens while the run is under way. */
  during?: (recording: Recording, threadId: string, runId: string) => Promise<void>;
}

const write = (path: string): Step => call('write_file', { path: `/mnt/user-data/workspace/${path}`, content: MARKER });

const SCENARIOS: Record<string, Scenario> = {
  success: { steps: [say(MARKER)] },
  'tool-calls': {
    steps: [
      write('a.txt'),
      calls([
        { tool: 'ls', args: { path: '/mnt/user-data/workspace' } },
        { tool: 'bash', args: { command: 'echo 1' } },
      ]),
      say(MARKER),
    ],
  },
  'slow-tool': { steps: [call('bash', { command: `echo ${MARKER}` }), say('done')] },
  cancel: { steps: [hang(20_000, say('late'))], during: cancelWith('interrupt') },
  rollback: { steps: [call('bash', { command: SLEEP }), say('late')], during: cancelWith('rollback') },
  'model-retry': { steps: [fail(503, { times: 1 }), say('after a retry')] },
  'model-failure': { steps: [fail(400)] },
  breakpoint: { steps: [write('b.txt'), say('never')], extra: { interrupt_before: ['tools'] } },
  'worker-killed': {
    steps: [call('bash', { command: SLEEP }), say('done')],
    during: async ({ product }, _threadId, _runId) => {
      await until(() => product.model.requests.length > 0);
      await pause(700);
      await product.workers.at(-1)?.kill();
      await product.startWorker();
    },
  },
};

function cancelWith(action: string): Scenario['during'] {
  return async ({ product, api }, threadId, runId) => {
    await until(() => product.model.requests.length > 0);
    await pause(500);
    await api.request('POST', `/api/threads/${threadId}/runs/${runId}/cancel?wait=1&action=${action}`);
  };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await pause(20);
}

async function record(recording: Recording, name: string, scenario: Scenario): Promise<void> {
  const { product, api } = recording;
  product.model.script('scripted', scenario.steps);
  product.model.requests.length = 0;
  const threadId = await api.newThread();
  const { body: run } = await api.request<RunRecord>(
    'POST',
    `/api/threads/${threadId}/runs`,
    ask(MARKER, { context: { model_name: 'scripted' }, ...scenario.extra }),
  );
  await scenario.during?.(recording, threadId, run.run_id);
  await api.ended(threadId, run.run_id, 60_000);
  await save(recording.client, name, run.run_id);
}

async function recordLongRun({ api, client }: Recording): Promise<void> {
  const threadId = await api.newThread();
  const { body: run } = await api.request<RunRecord>(
    'POST',
    `/api/threads/${threadId}/runs`,
    ask(`PLAN:tools=${LONG_RUN_TURNS} tool=ls tokens=1`, {
      context: { model_name: 'scripted-two' },
      config: { recursion_limit: 1000 },
    }),
  );
  await api.ended(threadId, run.run_id, 300_000);
  const last = client.workflow.getHandle(runWorkflowId(run.run_id));
  const firstRunId = (await last.fetchHistory()).events?.[0]?.workflowExecutionStartedEventAttributes
    ?.firstExecutionRunId;
  await save(client, 'continue-as-new-first', run.run_id, firstRunId ?? undefined);
  await save(client, 'continue-as-new-last', run.run_id);
}

async function save(client: Client, name: string, runId: string, execution?: string): Promise<void> {
  const handle = client.workflow.getHandle(runWorkflowId(runId), execution);
  // The workflow closes a moment after the run has ended.
  await handle.result().catch(() => undefined);
  const history = historyToJSON(await handle.fetchHistory());
  writeFileSync(join(FOLDER, `${name}.json`), `${JSON.stringify(JSON.parse(history), null, 1)}\n`);
  console.log(`${name}: ${history.length} bytes`);
}

async function main(): Promise<void> {
  const services = await startTestServices();
  process.env['TEST_DATABASE_URL'] = services.databaseUrl;
  process.env['TEST_TEMPORAL_ADDRESS'] = services.temporalAddress;
  const connection = await Connection.connect({ address: services.temporalAddress });
  const product = await startProduct();
  const recording = { product, api: createApiClient(() => product.url), client: new Client({ connection }) };
  try {
    for (const [name, scenario] of Object.entries(SCENARIOS)) await record(recording, name, scenario);
    await recordLongRun(recording);
  } finally {
    await product.close();
    await connection.close();
    await services.stop();
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
