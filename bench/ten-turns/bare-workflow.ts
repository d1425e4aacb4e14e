/** Runs in the workflow sandbox: the smallest workflow of ten activities, the physical limit beside which a run stands. */
import { proxyActivities } from '@temporalio/workflow';

const { nothing } = proxyActivities<{ nothing(): Promise<void> }>({ startToCloseTimeout: '10s' });

export async function bare(activities: number): Promise<void> {
  for (let index = 0; index < activities; index += 1) await nothing();
}
