import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { CancelledFailure, Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { WorkflowHandle } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker, bundleWorkflowCode } from '@temporalio/worker';
import type { WorkflowBundle } from '@temporalio/worker';
import type { NextMove, PendingToolCall, RunActivities, RunOutcome } from '../../../contracts';
import { AGENT_RUN_WORKFLOW, CANCEL_RUN_SIGNAL } from '../../../contracts';
import { openTemporal } from '../../../temporal';
import { prepareNamespace } from '../../../workers/prepare-namespace';
import { testServices } from '../../support/services';

Runtime.install({ logger: new DefaultLogger('ERROR') });

const taskQueue = `test-${randomUUID()}`;
const address = testServices().temporalAddress;
const temporal = openTemporal({ address, namespace: 'default' });
let connection: NativeConnection;
let workflowBundle: WorkflowBundle;

beforeAll(async () => {
  connection = await NativeConnection.connect({ address });
  await prepareNamespace(temporal, { namespace: 'default', taskQueue });
  workflowBundle = await bundleWorkflowCode({
    logger: new DefaultLogger('ERROR'),
    workflowsPath: require.resolve('../../../workflows'),
  });
}, 60_000);

afterAll(async () => {
  await temporal.client.schedule.getHandle(`reconcile-runs-${taskQueue}`).delete();
  await temporal.close();
  await connection.close();
});

interface Played {
  outcome: RunOutcome | undefined;
  /** What happened, in order. */
  story: string[];
}

/** Plays the real workflow against activities that tell what they do: one phase of tools, then the end. */
async function play(
  calls: PendingToolCall[],
  runTool: (toolCallId: string, tell: (what: string) => void) => Promise<void>,
  during: (run: WorkflowHandle) => Promise<void> = () => Promise.resolve(),
): Promise<Played> {
  const played: Played = { outcome: undefined, story: [] };
  const tell = (what: string): void => void played.story.push(what);
  const next: NextMove = { kind: 'tools', calls };
  const activities: Partial<RunActivities> = {
    beginRun: () => Promise.resolve({ closed: false, stepLimit: 5, stopAfterTools: true, next }),
    runTool: ({ toolCallId }) => runTool(toolCallId, tell),
    finishRun: ({ outcome }) => {
      tell('finished');
      played.outcome = outcome;
      return Promise.resolve({ status: 'success', hasWebhook: false });
    },
  };
  const worker = await Worker.create({
    connection,
    taskQueue,
    workflowBundle,
    activities,
    maxHeartbeatThrottleInterval: '100ms',
    maxConcurrentActivityTaskExecutions: 1_000,
  });
  await worker.runUntil(async () => {
    const workflowId = `run/${randomUUID()}`;
    const run = await temporal.client.workflow.start(AGENT_RUN_WORKFLOW, {
      workflowId,
      taskQueue,
      args: [{ runId: workflowId }],
    });
    await during(run);
    await run.result();
  });
  return played;
}

const slow = (toolCallId: string): PendingToolCall => ({
  turn: 1,
  toolCallId,
  name: 'bash',
  pace: 'slow',
  timeoutMs: 30_000,
});

/** Runs until it is told to stop, and then takes a while to clean up. */
async function untilStopped(cleanUpMs: number): Promise<never> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), 100);
  try {
    await context.cancelled.catch(() => undefined);
    await delay(cleanUpMs);
    throw new CancelledFailure('stopped');
  } finally {
    clearInterval(timer);
  }
}

test('a cancelled run ends only when all of its tools are over, and not with the first of them', async () => {
  const { outcome, story } = await play(
    [slow('quick to stop'), slow('slow to stop')],
    async (toolCallId, tell) => {
      tell(`${toolCallId}: begins`);
      await untilStopped(toolCallId === 'slow to stop' ? 1_500 : 0).finally(() => tell(`${toolCallId}: over`));
    },
    async (run) => {
      await delay(700);
      await run.signal(CANCEL_RUN_SIGNAL, 'interrupt');
    },
  );
  expect(outcome).toEqual({ kind: 'cancelled', action: 'interrupt' });
  expect(story.slice(2)).toEqual(['quick to stop: over', 'slow to stop: over', 'finished']);
}, 30_000);

test('a tool that cannot be run stops the others before the run ends', async () => {
  const { outcome, story } = await play([slow('broken'), slow('running')], async (toolCallId, tell) => {
    if (toolCallId === 'running') return untilStopped(300).finally(() => tell('running: over'));
    await delay(300);
    throw ApplicationFailure.nonRetryable('out of order', 'sandbox');
  });
  expect(outcome).toMatchObject({ kind: 'failed', code: 'sandbox' });
  expect(story).toEqual(['running: over', 'finished']);
}, 30_000);

test('a reply with very many calls has all of them run, a bounded number at once', async () => {
  const ids = Array.from({ length: 250 }, (_, place) => `call ${place}`);
  let atOnce = 0;
  let most = 0;
  const { outcome, story } = await play(ids.map(slow), async (toolCallId, tell) => {
    atOnce += 1;
    most = Math.max(most, atOnce);
    await delay(200);
    atOnce -= 1;
    tell(toolCallId);
  });
  expect(outcome).toEqual({ kind: 'breakpoint', next: ['model'] });
  expect(story.slice(0, -1).sort()).toEqual([...ids].sort());
  expect(most).toBeLessThanOrEqual(100);
}, 60_000);
