/** Where results are kept. */
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { documentFiles } from './document';
import { resultFile } from './markdown';
import type { Result } from './result';

const RESULTS = 'bench/results';
/** Results of `--quick` never replace those that the document shows. */
const QUICK_RESULTS = '.cache/bench-results';

/** Gives back the paths of what was written, from the root. */
export function writeResult(root: string, result: Result): string[] {
  const folder = result.quick ? QUICK_RESULTS : RESULTS;
  const files = {
    [`${folder}/${result.name}.json`]: `${JSON.stringify(result, null, 2)}\n`,
    [`${folder}/${result.name}.md`]: resultFile(result),
  };
  return writeFiles(root, files);
}

/** In the order of their names. */
export function readResults(root: string): Result[] {
  const folder = join(root, RESULTS);
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return names.sort().map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Result);
}

export function writeDocument(root: string): string[] {
  return writeFiles(root, documentFiles(readResults(root)));
}

function writeFiles(root: string, files: Record<string, string>): string[] {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return Object.keys(files);
}
