import { proxyActivities } from '@temporalio/workflow';

const { passStep } = proxyActivities<{ passStep(): Promise<void> }>({ startToCloseTimeout: '10s' });

/** So many steps that do nothing, one after the other: shows what a step costs on this server. */
export async function measureSteps(steps: number): Promise<void> {
  for (let step = 0; step < steps; step += 1) await passStep();
}
