/** `docs/benchmarks.md` and its plots, made from the results alone. */
import type { Result } from './result';
import { markdownTable } from './table';
import { resultParagraphs } from './markdown';
import { plot } from './plot';
import { targetText } from './words';

const DOCUMENT = 'docs/benchmarks.md';

/** Files of the document by their path from the root of the project. */
export function documentFiles(results: readonly Result[]): Record<string, string> {
  const plots = results.map((result): [string, string] => [`docs/${plotPath(result)}`, plot(result)]);
  return { [DOCUMENT]: documentText(results), ...Object.fromEntries(plots) };
}

function plotPath({ name }: Result): string {
  return `benchmarks/${name.toLowerCase()}.svg`;
}

function documentText(results: readonly Result[]): string {
  const sections = results.flatMap((result) => [
    `## ${result.name}: ${result.title}`,
    `![${result.title}](${plotPath(result)})`,
    ...resultParagraphs(result),
  ]);
  return `${[...INTRODUCTION, ...targetSection(results), ...sections].join('\n\n')}\n`;
}

const INTRODUCTION = [
  '# Benchmarks',
  'Made by `npm run bench` from the files in `bench/results/`; not edited by hand.',
  [
    'Everybody does the same work: the same model, a scripted server that answers at once unless the benchmark says',
    'otherwise; requests of the same size, with the system text and the tools of the product; the same tool, which lists',
    'a folder; the same client library for the model; the same PostgreSQL and Temporal servers, with every commit',
    'written through. The product runs as in production: worker and API are processes of their own. Product and peers',
    'take turns within each repeat, so that what disturbs the machine disturbs all of them, and ratios are taken within',
    'a repeat. What a peer keeps when its process dies is said beside its figures.',
  ].join('\n'),
  '## How to repeat them',
  [
    '```sh',
    'npm ci',
    'npm run bench -- all --repeats 5   # or one: npm run bench -- B1',
    'npm run bench -- --help',
    '```',
  ].join('\n'),
  [
    'The first time, the peers are installed from `bench/package-lock.json`; they are no dependency of the product. Other',
    'load on the machine is in the figures: the extremes beside each median show how much.',
  ].join('\n'),
];

function targetSection(results: readonly Result[]): string[] {
  const lines = results.flatMap(({ name, rows }) =>
    rows.flatMap((row) => row.targets.map((target) => [name, row.metric, targetText(row, target)])),
  );
  if (lines.length === 0) return [];
  return ['## Targets', markdownTable([['benchmark', 'metric', 'target'], ...lines])];
}
