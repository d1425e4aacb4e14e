/** The command `npm run test:faults`; see `options.ts` for what it takes. */
import { HELP, parseFaultOptions } from './options';
import { createScenarios } from './scenarios';
import { runSuite } from './suite/run-suite';

async function main(): Promise<number> {
  const options = parseFaultOptions(process.argv.slice(2));
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  if (options.help) {
    print(HELP);
    return 0;
  }
  const { only, long, seed } = options;
  const chosen = createScenarios({ oldVersion: options.old }).filter((scenario) =>
    only === null ? long || scenario.long !== true : scenario.name.includes(only),
  );
  if (options.list) {
    for (const { name, title, long: isLong } of chosen)
      print(`${isLong === true ? 'long ' : 'short'} ${name}\n      ${title}`);
    return 0;
  }
  const begun = Date.now();
  print(`seed ${seed}: ${chosen.length} scenarios`);
  const { passed, skipped, failures } = await runSuite({ scenarios: chosen, seed, print });
  const minutes = ((Date.now() - begun) / 60_000).toFixed(1);
  print(`\nseed ${seed}: ${passed} passed, ${failures.length} failures, ${skipped} skipped, in ${minutes} minutes`);
  return failures.length === 0 ? 0 : 1;
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  },
);
