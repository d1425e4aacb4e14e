/** Runs one benchmark from its start to its files. */
import type { Benchmark } from './benchmark';
import { createContext } from './context';
import type { ContextOptions } from './context';
import { peersOf, resultRow, tableCells, textTable, thisMachine, versionsOf, writeResult } from './report';
import type { Result } from './report';

export interface RunOptions extends ContextOptions {
  root: string;
  /** The table, on standard output. */
  print(text: string): void;
}

/** Gives back whether every rule that must always hold did. */
export async function runBenchmark(benchmark: Benchmark, options: RunOptions): Promise<boolean> {
  const context = createContext({
    ...options,
    log: (line) => options.log(`${benchmark.name}: ${line}`),
  });
  try {
    // Ctrl-C ends the wait at once; what still runs fails when its servers go.
    const rows = await Promise.race([benchmark.run(context), aborted(options.signal)]);
    const results = rows.map(resultRow);
    const result: Result = {
      name: benchmark.name,
      title: benchmark.title,
      about: benchmark.about,
      date: new Date().toISOString(),
      machine: thisMachine(),
      versions: { ...versionsOf(options.root, peersOf(results)), ...context.serverVersions() },
      repeats: options.repeats,
      quick: options.quick,
      notes: [...context.notes],
      broken: [...context.brokenRules],
      rows: results,
    };
    options.print(`\n${benchmark.name}: ${benchmark.title}\n${textTable(tableCells(results))}\n`);
    for (const rule of result.broken) options.print(`BROKEN: ${rule}\n`);
    for (const path of writeResult(options.root, result)) options.log(`wrote ${path}`);
    return result.broken.length === 0;
  } finally {
    await context.close();
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (): void => reject(signal.reason instanceof Error ? signal.reason : new Error('stopped'));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
