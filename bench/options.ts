/** The command line of `npm run bench`. Pure. */
import { BENCHMARK_NAMES } from './benchmark';
import type { BenchmarkName } from './benchmark';

export interface BenchOptions {
  help: boolean;
  /** Write the document from the results that are there, and measure nothing. */
  document: boolean;
  names: BenchmarkName[];
  repeats: number;
  quick: boolean;
  /** Workers that B5 kills, in all. */
  kills: number;
}

/** A mistake on the command line: its message is all that the user needs. */
export class UsageError extends Error {}

const DEFAULT_REPEATS = 5;
const MOST_REPEATS = 100;
const DEFAULT_KILLS = 40;
const QUICK_KILLS = 4;
const MOST_KILLS = 10_000;

export const HELP = `Usage: npm run bench -- <name>... | all [--repeats <n>] [--kills <n>] [--quick]
       npm run bench -- --document

Names: ${BENCHMARK_NAMES.join(', ')}

  --repeats <n>  how often everything is measured (${DEFAULT_REPEATS}; at most ${MOST_REPEATS})
  --kills <n>    how many workers B5 kills, in all (${DEFAULT_KILLS}; 200 make its figures firm)
  --quick        small sizes and one repeat, to see that it works; results go to .cache/bench-results/
  --document     only write docs/benchmarks.md from the results in bench/results/
  --help         show this

Each benchmark prints a table and writes bench/results/<name>.json and .md, and docs/benchmarks.md after it.
`;

export function parseBenchOptions(argv: readonly string[]): BenchOptions {
  const options: BenchOptions = { help: false, document: false, names: [], repeats: 0, quick: false, kills: 0 };
  const names = new Set<BenchmarkName>();
  const words = argv.values();
  for (const word of words) {
    const [flag = '', attached] = word.split('=', 2);
    if (flag === '--help' || flag === '-h') options.help = true;
    else if (flag === '--document') options.document = true;
    else if (flag === '--quick') options.quick = true;
    else if (flag === '--repeats') options.repeats = parseCount(flag, attached ?? words.next().value, MOST_REPEATS);
    else if (flag === '--kills') options.kills = parseCount(flag, attached ?? words.next().value, MOST_KILLS);
    else if (word.startsWith('-')) throw new UsageError(`There is no option ${word}. Try --help.`);
    else for (const name of parseName(word)) names.add(name);
  }
  options.names = BENCHMARK_NAMES.filter((name) => names.has(name));
  if (options.repeats === 0) options.repeats = options.quick ? 1 : DEFAULT_REPEATS;
  if (options.kills === 0) options.kills = options.quick ? QUICK_KILLS : DEFAULT_KILLS;
  if (!options.help && !options.document && options.names.length === 0) {
    throw new UsageError(`Which benchmark? Name some of ${BENCHMARK_NAMES.join(', ')}, or all.`);
  }
  return options;
}

function parseName(word: string): readonly BenchmarkName[] {
  const wanted = word.toUpperCase();
  if (wanted === 'ALL') return BENCHMARK_NAMES;
  const found = BENCHMARK_NAMES.find((name) => name === wanted);
  if (found === undefined) {
    throw new UsageError(`There is no benchmark "${word}": expected ${BENCHMARK_NAMES.join(', ')} or all.`);
  }
  return [found];
}

function parseCount(flag: string, text: string | undefined, most: number): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > most) {
    throw new UsageError(`${flag}: expected a whole number from 1 to ${most}, got ${text ?? 'nothing'}.`);
  }
  return count;
}
