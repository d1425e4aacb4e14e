import type { Row } from '../../../bench/benchmark';
import { documentFiles, resultRow, tableCells, textTable } from '../../../bench/report';
import type { Result } from '../../../bench/report';
import { sample } from '../../../bench/statistics';

const ROW: Row = {
  metric: 'a durable step',
  unit: 'ms',
  better: 'lower',
  product: sample([20, 22, 21]),
  peers: { dbos: sample([10, 11, 14]), temporal: sample([14, 10, 20]) },
  targets: [{ peer: 'dbos', limit: 2.5, aim: 1.5 }, { peer: 'temporal', limit: 1.2 }, { limit: 21 }],
};

function result(fields: Partial<Result> = {}): Result {
  return {
    name: 'B1',
    title: 'What a step <costs>',
    about: 'One run at a time.',
    date: '2026-01-02T03:04:05.000Z',
    machine: { processor: 'a processor', cores: 2, memoryGiB: 16, system: 'Linux 6' },
    versions: { product: '0.1.0', 'Node.js': '20.19.0', '@dbos-inc/dbos-sdk': '5.3.0' },
    repeats: 3,
    quick: false,
    notes: ['50 turns'],
    broken: [],
    rows: [resultRow(ROW)],
    ...fields,
  };
}

describe('a row of results', () => {
  it('holds the ratio to each peer and says of each target whether it was met', () => {
    const { ratios, targets } = resultRow(ROW);
    expect(ratios['dbos']?.values).toEqual([2, 2, 1.5]);
    expect(targets.map(({ met, aimMet }) => [met, aimMet])).toEqual([
      [true, false],
      [false, null],
      [true, null],
    ]);
  });

  it('judges the other way where more is better', () => {
    const row: Row = { ...ROW, better: 'higher', targets: [{ peer: 'dbos', limit: 2, aim: 2.5 }, { limit: 21.5 }] };
    expect(resultRow(row).targets.map(({ met, aimMet }) => [met, aimMet])).toEqual([
      [true, false],
      [false, null],
    ]);
  });

  it('with a target for a peer that did not run is a mistake', () => {
    expect(() => resultRow({ ...ROW, targets: [{ peer: 'langgraph', limit: 1 }] })).toThrow(/"langgraph"/);
  });
});

describe('the table', () => {
  it('shows median, extremes, ratios and targets under each other', () => {
    const alone = resultRow({ metric: 'memory', unit: 'MB', better: 'lower', product: sample([123.4]), peers: {} });
    expect(textTable(tableCells([resultRow(ROW), alone])).split('\n')).toEqual([
      'metric          unit     product        DBOS  ratio  bare Temporal  ratio  target',
      `--------------  ----  ----------  ----------  -----  -------------  -----  ${'-'.repeat(98)}`,
      'a durable step  ms    21 (20–22)  11 (10–14)      2     14 (10–20)   1.43  ' +
        'at most 2.5 x DBOS: met, aim 1.5 not met; at most 1.2 x bare Temporal: not met; at most 21 ms: met',
      'memory          MB           123',
    ]);
  });
});

describe('the document', () => {
  const files = documentFiles([result(), result({ name: 'B2', broken: ['an event was lost'] })]);
  const text = files['docs/benchmarks.md'] ?? '';

  it('has a section and a plot for each benchmark, with the machine, the versions and how to repeat it', () => {
    expect(Object.keys(files)).toEqual(['docs/benchmarks.md', 'docs/benchmarks/b1.svg', 'docs/benchmarks/b2.svg']);
    for (const part of [
      'npm run bench -- all --repeats 5',
      '## B1: What a step <costs>',
      '(benchmarks/b1.svg)',
      'a processor, 2 cores, 16 GiB, Linux 6',
      'median of 3 repeats',
      'product 0.1.0, Node.js 20.19.0',
      '- 50 turns',
    ]) {
      expect(text).toContain(part);
    }
  });

  it('says of each peer whether it is durable and what it keeps', () => {
    expect(text).toMatch(/- DBOS \(@dbos-inc\/dbos-sdk 5\.3\.0\), durable: /);
  });

  it('names every target, met or not, and every broken rule', () => {
    expect(text).toContain('| B1        | a durable step | at most 1.2 x bare Temporal: not met');
    expect(text).toContain('**Broken:** an event was lost');
  });

  it('draws one bar per system in proportion to its median, in well-formed text', () => {
    const svg = files['docs/benchmarks/b1.svg'] ?? '';
    const widths = [...svg.matchAll(/<rect x="[\d.]+" y="[\d.]+" width="([\d.]+)"/g)].map(([, width]) => Number(width));
    expect(widths).toHaveLength(3);
    expect((widths[0] ?? 0) / (widths[1] ?? 1)).toBeCloseTo(21 / 11, 1);
    expect(svg).toContain('What a step &lt;costs&gt;');
  });
});
