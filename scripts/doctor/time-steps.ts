/** How long the Temporal server takes for one durable step, measured with a workflow of this installation. */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { DefaultLogger } from '@temporalio/worker';
import { MEASURE_STEPS_WORKFLOW } from '../../contracts';
import { openTemporal } from '../../temporal';
import { builtFile } from '../../workers/stack/project-root';

const FEW_STEPS = 5;
const MANY_STEPS = 25;

export interface TimeStepsOptions {
  address: string;
  namespace: string;
  timeoutMs: number;
}

/** Milliseconds per step, without what starting and ending a workflow costs. */
export async function timeSteps({ address, namespace, timeoutMs }: TimeStepsOptions): Promise<number> {
  Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] });
  const connection = await NativeConnection.connect({ address });
  const temporal = openTemporal({ address, namespace });
  const taskQueue = `doctor/${randomUUID()}`;
  try {
    const worker = await Worker.create({
      connection,
      namespace,
      taskQueue,
      workflowBundle: { codePath: bundlePath() },
      activities: { passStep: async () => undefined },
    });
    const measure = async (steps: number): Promise<number> => {
      const begun = performance.now();
      await temporal.client.workflow.execute(MEASURE_STEPS_WORKFLOW, {
        args: [steps],
        taskQueue,
        workflowId: `${taskQueue}/${steps}`,
        workflowExecutionTimeout: timeoutMs,
      });
      return performance.now() - begun;
    };
    return await worker.runUntil(async () => {
      await measure(1);
      const few = await measure(FEW_STEPS);
      const many = await measure(MANY_STEPS);
      return (many - few) / (MANY_STEPS - FEW_STEPS);
    });
  } finally {
    await temporal.close();
    await connection.close();
  }
}

function bundlePath(): string {
  const beside = join(__dirname, '..', '..', 'workflow-bundle.js');
  return existsSync(beside) ? beside : builtFile('workflow-bundle.js');
}
