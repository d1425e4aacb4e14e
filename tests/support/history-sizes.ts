import type { Client } from '@temporalio/client';

export interface HistorySize {
  events: number;
  bytes: number;
}

/** The size of every execution of a workflow, the newest first: a long run continues as new. */
export async function historySizes(client: Client, workflowId: string): Promise<HistorySize[]> {
  const sizes: HistorySize[] = [];
  for (let execution: string | undefined, more = true; more;) {
    const handle = client.workflow.getHandle(workflowId, execution);
    const { historyLength, historySize = 0 } = await handle.describe();
    sizes.push({ events: historyLength, bytes: historySize });
    const [started] = (await handle.fetchHistory()).events ?? [];
    execution = started?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? undefined;
    more = Boolean(execution);
  }
  return sizes;
}
