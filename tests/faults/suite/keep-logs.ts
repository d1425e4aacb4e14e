/** Keeps what is needed to understand a violation, in a folder of its own. */
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import { runWorkflowId } from '../../../contracts';
import type { Cluster } from '../cluster/cluster';
import type { CheckResult, Stage } from './stage';

export async function keepLogs(
  folder: string,
  { cluster, ledger }: Stage,
  result: Pick<CheckResult, 'violations' | 'evidence'>,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const json = (name: string, value: unknown) => writeFile(join(folder, name), JSON.stringify(value, null, 2));
  const histories = result.violations.flatMap(({ subject }) => (subject === null ? [] : [historyOf(cluster, subject)]));
  await Promise.all([
    ...(await Promise.all(histories)).flatMap((found) => (found === null ? [] : [json(found.name, found.history)])),
    json('violations.json', result.violations),
    json('evidence.json', result.evidence),
    json('runs.json', ledger.runs),
    cp(cluster.modelJournal, join(folder, 'model.jsonl')),
    ...cluster.slots.map((slot) => writeFile(join(folder, `${slot.name}.log`), slot.output)),
    ...['postgres.log', 'temporal.log'].map((name) =>
      cp(join(cluster.servers.directory, name), join(folder, name)).catch(() => undefined),
    ),
  ]);
}

/** What happened to the workflow of a run that a violation is about. */
async function historyOf({ temporal }: Cluster, subject: string): Promise<{ name: string; history: unknown } | null> {
  const workflowId = subject.includes('/') ? subject : runWorkflowId(subject);
  try {
    const history = await temporal.workflow.getHandle(workflowId).fetchHistory();
    return { name: `history-${workflowId.replaceAll('/', '-')}.json`, history: JSON.parse(historyToJSON(history)) };
  } catch {
    return null;
  }
}
