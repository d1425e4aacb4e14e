import { loadRows } from '../../../bench/load/load-rows';
import type { LoadFigures } from '../../../bench/load/measure-load';

const figures = (overrides: Partial<LoadFigures>): LoadFigures => ({
  runs: 10,
  runsPerSecond: 1,
  medianMs: 100,
  parts: {},
  cpu: 0.1,
  refereeCpu: 0.01,
  clientCpu: 0.02,
  ...overrides,
});

describe('the rows of a load', () => {
  const product = [
    figures({ runsPerSecond: 8, parts: { worker: 0.1, api: 0.2, temporal: 0.3, postgres: 0.4 } }),
    figures({ runsPerSecond: 10, parts: { worker: 0.3, api: 0.2, temporal: 0.3, postgres: 0.4 } }),
  ];
  const temporal = [figures({ runsPerSecond: 16, parts: { worker: 0.1, temporal: 0.2 } })];
  const server = [figures({ runsPerSecond: 12, parts: { server: 0.1 } })];

  it('hold every repeat of the product and of each peer, and the target with the rate', () => {
    const [rate] = loadRows(16, { product, temporal }, [{ peer: 'temporal', limit: 0.7 }]);
    expect(rate).toMatchObject({
      metric: 'runs per second, 16 clients',
      better: 'higher',
      product: { values: [8, 10], median: 9 },
      peers: { temporal: { values: [16] } },
      targets: [{ peer: 'temporal', limit: 0.7 }],
    });
  });

  it('compare a kind of process only with those who have one', () => {
    const rows = loadRows(1, { product, temporal, server }, []);
    const peersOf = (metric: string) => Object.keys(rows.find((row) => row.metric === metric)?.peers ?? { none: 0 });
    expect(peersOf('CPU per run, 1 client')).toEqual(['temporal', 'server']);
    expect(peersOf('CPU per run of the worker, 1 client')).toEqual(['temporal']);
    expect(peersOf('CPU per run of PostgreSQL, 1 client')).toEqual([]);
  });
});
