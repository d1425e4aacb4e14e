/** The figures of one load on every contender, as rows of the table. Pure. */
import type { Row, Target } from '../benchmark';
import { sample } from '../statistics';
import type { Sample } from '../statistics';
import type { Part } from './contender';
import type { LoadFigures } from './measure-load';

/** By contender, one entry per repeat. */
export type FiguresByName = Readonly<Record<string, readonly LoadFigures[]>>;

/** The kinds of processes that the product has. A contender that lacks one has no value there. */
const PARTS: ReadonlyArray<readonly [Part, string]> = [
  ['worker', 'the worker'],
  ['api', 'the API'],
  ['temporal', 'Temporal'],
  ['postgres', 'PostgreSQL'],
];

/** @param targets of the runs per second. */
export function loadRows(clients: number, figures: FiguresByName, targets: Target[]): Row[] {
  const suffix = `${clients} ${clients === 1 ? 'client' : 'clients'}`;
  const row = (metric: string, unit: string, value: (figures: LoadFigures) => number | undefined): Row[] => {
    const samples = samplesOf(figures, value);
    const product = samples.get('product');
    samples.delete('product');
    if (product === undefined) return [];
    return [{ metric: `${metric}, ${suffix}`, unit, better: 'lower', product, peers: Object.fromEntries(samples) }];
  };
  return [
    ...row('runs per second', 'runs/s', ({ runsPerSecond }) => runsPerSecond).map((rate): Row => ({
      ...rate,
      better: 'higher',
      targets,
    })),
    ...row('a run from creation to end', 'ms', ({ medianMs }) => medianMs),
    ...row('CPU per run', 'CPU s', ({ cpu }) => cpu),
    ...PARTS.flatMap(([part, name]) => row(`CPU per run of ${name}`, 'CPU s', ({ parts }) => parts[part])),
    ...row('CPU per run of the referee', 'CPU s', ({ refereeCpu }) => refereeCpu),
    ...row('CPU per run of the client', 'CPU s', ({ clientCpu }) => clientCpu),
  ];
}

function samplesOf(figures: FiguresByName, value: (figures: LoadFigures) => number | undefined): Map<string, Sample> {
  const samples = new Map<string, Sample>();
  for (const [name, repeats] of Object.entries(figures)) {
    const values = repeats.map(value).filter((number) => number !== undefined);
    if (values.length > 0) samples.set(name, sample(values));
  }
  return samples;
}
