/** The results as a table: for the terminal, and as Markdown. */
import type { ResultRow } from './result';
import { figure, peerTitle, peersOf, spread, targetText } from './words';

/** A head line and a line per metric: the product, every peer with its ratio, the targets. */
export function tableCells(rows: readonly ResultRow[]): string[][] {
  const peers = peersOf(rows);
  const hasTargets = rows.some(({ targets }) => targets.length > 0);
  const head = ['metric', 'unit', 'product', ...peers.flatMap((name) => [peerTitle(name), 'ratio'])];
  const lines = rows.map((row) => [
    row.metric,
    row.unit,
    spread(row.product),
    ...peers.flatMap((name) => peerCells(row, name)),
    ...(hasTargets ? [row.targets.map((target) => targetText(row, target)).join('; ')] : []),
  ]);
  return [hasTargets ? [...head, 'target'] : head, ...lines];
}

function peerCells({ peers, ratios }: ResultRow, name: string): [string, string] {
  const [peer, ratio] = [peers[name], ratios[name]];
  return [peer === undefined ? '' : spread(peer), ratio === undefined ? '' : figure(ratio.median)];
}

/** Columns under each other, for a terminal. Figures stand to the right. */
export function textTable(cells: readonly string[][]): string {
  const widths = widthsOf(cells);
  const isFigure = (column: number) => column >= 2 && cells[0]?.[column] !== 'target';
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => (isFigure(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd();
  const [head = [], ...rows] = cells;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

export function markdownTable(cells: readonly string[][]): string {
  const widths = widthsOf(cells).map((width) => Math.max(3, width));
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [head = [], ...rows] = cells;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

function widthsOf(cells: readonly string[][]): number[] {
  return (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
}
