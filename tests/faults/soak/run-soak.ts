/** The command `npm run soak`; see `options.ts` for what it takes. */
import { join } from 'node:path';
import { findInstallation } from '../../../workers/stack/project-root';
import { startCluster } from '../cluster/cluster';
import { keepLogs } from '../suite/keep-logs';
import { createLedger } from '../workload/workload';
import { HELP, parseSoakOptions } from './options';
import { soak } from './soak';

async function main(): Promise<number> {
  const options = parseSoakOptions(process.argv.slice(2));
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  if (options.help) {
    print(HELP);
    return 0;
  }
  const { runs, restarts, seed } = options;
  print(`seed ${seed}: ${runs} runs, ${restarts} restarts`);
  const begun = Date.now();
  const cluster = await startCluster();
  try {
    const ledger = createLedger(cluster);
    const { table, violations, evidence } = await soak(cluster, ledger, options, print);
    print(`\n${table}\n`);
    for (const { rule, subject, message } of violations)
      print(`VIOLATION ${rule}: ${subject ?? 'the cluster'}: ${message}`);
    if (violations.length > 0) {
      const folder = join(findInstallation(), '.cache', 'fault-logs', `soak-${seed}`);
      await keepLogs(folder, { cluster, ledger, known: new Set() }, { violations, evidence });
      print(`logs and evidence: ${folder}`);
    }
    const minutes = ((Date.now() - begun) / 60_000).toFixed(1);
    const questions = evidence.modelRequests.length;
    print(
      `seed ${seed}: ${evidence.runs.length} runs, ${questions} questions, ${violations.length} violations, in ${minutes} minutes`,
    );
    return violations.length === 0 ? 0 : 1;
  } finally {
    await cluster.close();
  }
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  },
);
