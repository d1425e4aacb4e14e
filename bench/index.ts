/** `npm run bench`: measures the product beside its peers. It judges no time; exit code 1 means a broken rule. */
import { findInstallation } from '../workers/stack/project-root';
import { listenForStop } from '../workers/stack/stop-signals';
import { BENCHMARKS } from './benchmarks';
import { HELP, UsageError, parseBenchOptions } from './options';
import { preparePeers } from './prepare-peers';
import { writeDocument } from './report';
import { runBenchmark } from './run-benchmark';

async function main(): Promise<number> {
  const options = parseBenchOptions(process.argv.slice(2));
  if (options.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const root = findInstallation();
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  const stops = listenForStop();
  stops.second.addEventListener('abort', () => process.exit(130), { once: true });
  const failed: string[] = [];
  try {
    if (options.names.length > 0) await preparePeers({ root, signal: stops.first, log });
    for (const name of options.names) {
      const benchmark = BENCHMARKS.find((candidate) => candidate.name === name);
      if (benchmark === undefined) throw new Error(`${name} is not there yet.`);
      const { repeats, quick, kills } = options;
      const print = (text: string): void => void process.stdout.write(text);
      const sound = await runBenchmark(benchmark, { root, repeats, quick, kills, signal: stops.first, log, print });
      if (!sound) failed.push(name);
    }
    if (options.document || !options.quick) for (const path of writeDocument(root)) log(`wrote ${path}`);
  } catch (error) {
    if (!stops.first.aborted) throw error;
    log('stopped');
    return 130;
  }
  if (failed.length > 0) log(`Rules were broken in ${failed.join(', ')}: see above.`);
  return failed.length > 0 ? 1 : 0;
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof UsageError ? error.message : String((error as Error).stack ?? error)}\n`);
    process.exit(error instanceof UsageError ? 2 : 1);
  },
);
