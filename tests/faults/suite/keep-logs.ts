/** Keeps what is needed to understand a violation, in a folder of its own. */
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CheckResult, Stage } from './stage';

export async function keepLogs(
  folder: string,
  { cluster, ledger }: Stage,
  result: Pick<CheckResult, 'violations' | 'evidence'>,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const json = (name: string, value: unknown) => writeFile(join(folder, name), JSON.stringify(value, null, 2));
  await Promise.all([
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
