/** Runs in the workflow sandbox: the smallest workflow of ten activities, the physical limit beside which a run stands. */
import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';

interface Empty {
  nothing(): Promise<void>;
}

const { nothing } = proxyActivities<Empty>({ startToCloseTimeout: '10s' });
const local = proxyLocalActivities<Empty>({ startToCloseTimeout: '10s' });

export async function bare(activities: number): Promise<void> {
  for (let index = 0; index < activities; index += 1) await nothing();
}

/** The shape of a run: an activity a turn for the model and a local one for a quick tool, and one at each end. */
export async function bareTurns(turns: number): Promise<void> {
  await local.nothing();
  for (let turn = 1; turn <= turns; turn += 1) {
    await nothing();
    await local.nothing();
  }
}
