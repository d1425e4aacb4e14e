/**
 * Temporal without the product: the same loop as a workflow, on the same server, with the worker options of the product.
 * With the argument `local`, everything is a local activity and nothing but ids is stored.
 */
import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import type { PeerSetup, RunArguments, RunResult } from '../../peer-protocol';
import { createAgent } from '../shared/agent';
import { timed } from '../shared/loop';
import { servePeer } from '../shared/serve';
import type { PeerProgram } from '../shared/serve';
import { createActivities } from './activities';

const POLLERS = { type: 'autoscaling', initial: 2, minimum: 1, maximum: 10 } as const;
const workflowType = process.argv[3] === 'local' ? 'localAgentRun' : 'agentRun';

void servePeer(async (setup: PeerSetup): Promise<PeerProgram> => {
  Runtime.install({ logger: new DefaultLogger('WARN') });
  const taskQueue = `bare-${randomUUID()}`;
  const workerConnection = await NativeConnection.connect({ address: setup.temporalAddress });
  const worker = await Worker.create({
    connection: workerConnection,
    taskQueue,
    workflowsPath: require.resolve('./workflow'),
    activities: createActivities(createAgent(setup)),
    maxCachedWorkflows: 600,
    maxConcurrentActivityTaskExecutions: 200,
    maxConcurrentLocalActivityExecutions: 200,
    workflowTaskPollerBehavior: POLLERS,
    activityTaskPollerBehavior: POLLERS,
    stickyQueueScheduleToStartTimeout: '2s',
    maxHeartbeatThrottleInterval: '1s',
    defaultHeartbeatThrottleInterval: '1s',
  });
  const finished = worker.run();
  const connection = await Connection.connect({
    address: setup.temporalAddress,
    channelArgs: { 'grpc.default_compression_algorithm': 0 },
  });
  const client = new Client({ connection });
  return {
    commands: {
      run: ({ question }: RunArguments): Promise<RunResult> =>
        timed(() =>
          client.workflow.execute<(question: string) => Promise<Omit<RunResult, 'milliseconds'>>>(workflowType, {
            taskQueue,
            workflowId: randomUUID(),
            workflowTaskTimeout: '5s',
            args: [question],
          }),
        ),
    },
    async close() {
      worker.shutdown();
      await finished;
      await connection.close();
      await workerConnection.close();
    },
  };
});
