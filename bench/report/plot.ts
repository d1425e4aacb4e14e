/** A bar chart as SVG: one group of bars per metric, each group with a scale of its own, whiskers for the extremes. */
import type { Sample } from '../statistics';
import type { Result, ResultRow } from './result';
import { figure, peerTitle } from './words';

const WIDTH = 860;
const LABELS = 230;
const BARS = 460;
const BAR_HEIGHT = 18;
const BAR_GAP = 6;
const GROUP_GAP = 22;
const TITLE_HEIGHT = 46;
const HEADING_HEIGHT = 22;

const PRODUCT_COLOUR = '#2f6f4f';
const PEER_COLOURS = ['#8a8f98', '#a7abb3', '#c0c4ca', '#d3d6da'];

export function plot(result: Result): string {
  const parts: string[] = [];
  let top = TITLE_HEIGHT;
  for (const row of result.rows) {
    const group = plotGroup(row, top);
    parts.push(group.svg);
    top += group.height + GROUP_GAP;
  }
  const title = escape(`${result.name}: ${result.title}`);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${top}" viewBox="0 0 ${WIDTH} ${top}"`,
    `  font-family="system-ui, sans-serif" font-size="12" role="img" aria-label="${title}">`,
    `<rect width="${WIDTH}" height="${top}" fill="#ffffff"/>`,
    `<text x="16" y="28" font-size="16" font-weight="600" fill="#1f2328">${title}</text>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}

function plotGroup(row: ResultRow, top: number): { svg: string; height: number } {
  const bars: Array<[label: string, sample: Sample, colour: string]> = [
    ['product', row.product, PRODUCT_COLOUR],
    ...Object.entries(row.peers).map(([name, sample], place): [string, Sample, string] => [
      peerTitle(name),
      sample,
      PEER_COLOURS[place % PEER_COLOURS.length] ?? '#8a8f98',
    ]),
  ];
  const most = Math.max(...bars.map(([, { maximum }]) => maximum), Number.MIN_VALUE);
  const better = row.better === 'lower' ? 'shorter is better' : 'longer is better';
  const heading = `${row.metric}, ${row.unit} (${better})`;
  const lines = bars.map(([label, sample, colour], place) =>
    plotBar({ label, sample, colour, most, top: top + HEADING_HEIGHT + place * (BAR_HEIGHT + BAR_GAP) }),
  );
  return {
    svg: [`<text x="16" y="${top + 12}" font-weight="600" fill="#1f2328">${escape(heading)}</text>`, ...lines].join(
      '\n',
    ),
    height: HEADING_HEIGHT + bars.length * (BAR_HEIGHT + BAR_GAP),
  };
}

interface Bar {
  label: string;
  sample: Sample;
  colour: string;
  /** The value at the end of the scale. */
  most: number;
  top: number;
}

function plotBar({ label, sample, colour, most, top }: Bar): string {
  const x = (value: number): string => (LABELS + (value / most) * BARS).toFixed(1);
  const middle = top + BAR_HEIGHT / 2;
  const width = (Number(x(sample.median)) - LABELS).toFixed(1);
  return [
    `<text x="${LABELS - 10}" y="${middle + 4}" text-anchor="end" fill="#1f2328">${escape(label)}</text>`,
    `<rect x="${LABELS}" y="${top}" width="${width}" height="${BAR_HEIGHT}" rx="2" fill="${colour}"/>`,
    `<path d="M${x(sample.minimum)} ${middle}H${x(sample.maximum)}" stroke="#1f2328"/>`,
    `<text x="${LABELS + BARS + 12}" y="${middle + 4}" fill="#1f2328">${escape(figure(sample.median))}</text>`,
  ].join('\n');
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
