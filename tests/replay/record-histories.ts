/**
 * Records the histories that `replay.test.ts` replays, from real runs of the real processes: `npm run histories:record`
 * records all of them, `npm run histories:record -- cancel webhook` those two and leaves the others as they are. An
 * older history is worth keeping: it stands for runs that a new version of the workflows finds under way.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import type { JsonObject, RunRecord } from '../../contracts';
import { RECONCILE_SCHEDULE_ID, runWorkflowId } from '../../contracts';
import { call, calls, fail, hang, say } from '../support/fake-model';
import type { Step } from '../support/fake-model';
import { ask, createApiClient, startProduct } from '../support/product';
import type { ApiClient, Product } from '../support/product';
import { startTestServices } from '../support/services';
import { storeHistory } from './histories';

/** In every text that a person, a model or a tool says: no history may hold it. */
const MARKER = 'MARKER-IN-CONTENT';
const SLEEP = 'sleep 2';
const LONG_RUN_TURNS = 450;
/** Too slow to be answered within the workflow task that asks. */
const SLOW_MODEL_MS = 1_500;

/** More than a run works on at once. */
const MANY_CALLS = 110;

interface Recording {
  product: Product;
  api: ApiClient;
  client: Client;
  webhook: string;
}

interface Scenario {
  steps: Step[];
  extra?: (recording: Recording) => JsonObject;
  /** What happens while the run is under way. */
  during?: (recording: Recording, threadId: string, runId: string) => Promise<void>;
}

const write = (path: string): Step => call('write_file', { path: `/mnt/user-data/workspace/${path}`, content: MARKER });
const list = { tool: 'ls', args: { path: '/mnt/user-data/workspace' } };

const SCENARIOS: Record<string, Scenario> = {
  success: { steps: [say(MARKER)] },
  'tool-calls': {
    steps: [
      write('a.txt'),
      calls([list, { tool: 'bash', args: { command: `echo ${MARKER}` } }]),
      call('no_such_tool', { text: MARKER }),
      say(MARKER),
    ],
  },
  'slow-tool': { steps: [call('bash', { command: `echo ${MARKER}` }), say('done')] },
  cancel: { steps: [hang(20_000, say('late'))], during: cancelWith('interrupt') },
  rollback: { steps: [call('bash', { command: SLEEP }), say('late')], during: cancelWith('rollback') },
  'cancel-parallel-tools': {
    steps: [calls(['1', '2'].map((file) => ({ tool: 'bash', args: { command: `${SLEEP}; echo ${file}` } })))],
    during: cancelWith('interrupt'),
  },
  'cancel-before-its-time': {
    steps: [say('never')],
    extra: () => ({ after_seconds: 600 }),
    during: async ({ api }, threadId, runId) => cancel(api, threadId, runId, 'interrupt'),
  },
  'cancelled-from-outside': {
    steps: [hang(20_000, say('late'))],
    during: async ({ product, client }, _threadId, runId) => {
      await product.model.waitForRequests(1);
      await client.workflow.getHandle(runWorkflowId(runId)).cancel();
    },
  },
  'model-retry': { steps: [fail(503, { times: 1 }), say('after a retry')] },
  'model-failure': { steps: [fail(400)] },
  'slow-model': { steps: [hang(SLOW_MODEL_MS, calls([list])), hang(SLOW_MODEL_MS, say(MARKER))] },
  'slow-model-lost': {
    steps: [hang(20_000, say('late')), say('after the kill')],
    during: async ({ product }) => {
      await product.model.waitForRequests(1);
      await delay(SLOW_MODEL_MS);
      await product.workers.at(-1)?.kill();
      await product.startWorker();
    },
  },
  breakpoint: { steps: [write('b.txt'), say('never')], extra: () => ({ interrupt_before: ['tools'] }) },
  'breakpoint-after-tools': { steps: [write('c.txt'), say('never')], extra: () => ({ interrupt_after: ['tools'] }) },
  'many-calls': { steps: [calls(Array.from({ length: MANY_CALLS }, () => list)), say('done')] },
  'step-limit': { steps: [calls([list]), say('never')], extra: () => ({ config: { recursion_limit: 2 } }) },
  webhook: { steps: [say(MARKER)], extra: ({ webhook }) => ({ webhook }) },
  'worker-killed': {
    steps: [call('bash', { command: SLEEP }), say('done')],
    during: async ({ product }) => {
      await product.model.waitForRequests(1);
      await delay(700);
      await product.workers.at(-1)?.kill();
      await product.startWorker();
    },
  },
};

function cancelWith(action: string): Scenario['during'] {
  return async ({ product, api }, threadId, runId) => {
    await product.model.waitForRequests(1);
    await delay(500);
    await cancel(api, threadId, runId, action);
  };
}

async function cancel(api: ApiClient, threadId: string, runId: string, action: string): Promise<void> {
  await api.request('POST', `/api/threads/${threadId}/runs/${runId}/cancel?wait=1&action=${action}`);
}

async function record(recording: Recording, name: string, scenario: Scenario): Promise<void> {
  const { product, api } = recording;
  product.model.requests.length = 0;
  product.model.script('scripted', scenario.steps);
  const threadId = await api.newThread();
  const { body: run } = await api.request<RunRecord>(
    'POST',
    `/api/threads/${threadId}/runs`,
    ask(MARKER, { context: { model_name: 'scripted' }, ...scenario.extra?.(recording) }),
  );
  await scenario.during?.(recording, threadId, run.run_id);
  await api.ended(threadId, run.run_id, 60_000);
  await save(recording.client, name, runWorkflowId(run.run_id));
}

async function recordLongRun({ api, client }: Recording): Promise<void> {
  const threadId = await api.newThread();
  const { body: run } = await api.request<RunRecord>(
    'POST',
    `/api/threads/${threadId}/runs`,
    ask(`PLAN:tools=${LONG_RUN_TURNS} tool=bash tokens=1`, {
      context: { model_name: 'scripted-two' },
      config: { recursion_limit: 2 * LONG_RUN_TURNS + 1 },
    }),
  );
  await api.ended(threadId, run.run_id, 300_000);
  const workflowId = runWorkflowId(run.run_id);
  const [started] = (await client.workflow.getHandle(workflowId).fetchHistory()).events ?? [];
  const first = started?.workflowExecutionStartedEventAttributes?.firstExecutionRunId ?? undefined;
  await save(client, 'continue-as-new-first', workflowId, first);
  await save(client, 'continue-as-new-last', workflowId);
}

async function recordReconciler({ client, product }: Recording): Promise<void> {
  const schedule = client.schedule.getHandle(`${RECONCILE_SCHEDULE_ID}-${product.taskQueue}`);
  await schedule.trigger();
  for (;;) {
    const { info } = await schedule.describe();
    const last = info.recentActions.at(-1)?.action;
    if (last !== undefined) return save(client, 'reconcile', last.workflow.workflowId);
    await delay(100);
  }
}

async function save(client: Client, name: string, workflowId: string, execution?: string): Promise<void> {
  const handle = client.workflow.getHandle(workflowId, execution, { followRuns: false });
  // The workflow closes a moment after the run has ended.
  await handle.result().catch(() => undefined);
  console.log(`${name}: ${storeHistory(name, await handle.fetchHistory())} bytes`);
}

async function main(names: readonly string[]): Promise<void> {
  const isWanted = (name: string): boolean => names.length === 0 || names.includes(name);
  const services = await startTestServices();
  process.env['TEST_DATABASE_URL'] = services.databaseUrl;
  process.env['TEST_TEMPORAL_ADDRESS'] = services.temporalAddress;
  const receiver = createServer((_request, response) => response.end()).listen(0, '127.0.0.1');
  const connection = await Connection.connect({ address: services.temporalAddress });
  const product = await startProduct({ config: { runs: { webhook_allow_private_addresses: true } } });
  const recording: Recording = {
    product,
    api: createApiClient(() => product.url),
    client: new Client({ connection }),
    webhook: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/ended`,
  };
  try {
    for (const [name, scenario] of Object.entries(SCENARIOS)) {
      if (isWanted(name)) await record(recording, name, scenario);
    }
    if (isWanted('continue-as-new-first') || isWanted('continue-as-new-last')) await recordLongRun(recording);
    if (isWanted('reconcile')) await recordReconciler(recording);
  } finally {
    await product.close();
    await connection.close();
    receiver.close();
    await services.stop();
  }
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
