import type { Sample } from '../../faults/soak/samples';
import { compareAtEqualAges, compareWhileOld, isFlat } from '../../faults/soak/flatness';
import { measure } from '../../faults/soak/report';
import type { Measured } from '../../faults/soak/report';
import { parseSoakOptions } from '../../faults/soak/options';

const WINDOW = { from: 0, to: 600_000 };

/** One process after the other, each for so long; memory by moment and age. */
function samplesOf(lifetimeMs: number, megabytes: (at: number, ageMs: number) => number, kind = 'worker'): Sample[] {
  return Array.from({ length: 600 }, (_, index) => {
    const at = index * 1_000;
    const ageMs = at % lifetimeMs;
    return { at, kind, process: `${kind}-1`, ageMs, megabytes: megabytes(at, ageMs), files: 30 };
  });
}

const young = (_at: number, ageMs: number): number => 100 + Math.min(60, ageMs / 500);

test('processes that grow up and are restarted are flat, however short they live at one time and long at another', () => {
  const steady = compareAtEqualAges(samplesOf(45_000, young), 'worker', WINDOW);
  expect(steady).toMatchObject({ kind: 'worker', stretch: 'with restarts' });
  expect(Math.abs((steady?.late ?? 0) - (steady?.early ?? 0))).toBeLessThan(2);

  const olderAtTheEnd = [
    ...samplesOf(20_000, young).filter(({ at }) => at < 300_000),
    ...samplesOf(90_000, young).filter(({ at }) => at >= 300_000),
  ];
  const compared = compareAtEqualAges(olderAtTheEnd, 'worker', WINDOW);
  expect(Math.abs((compared?.late ?? 0) - (compared?.early ?? 0))).toBeLessThan(2);
  expect(compared !== null && isFlat(compared)).toBe(true);
});

test('what grows with what is stored is found although each process begins anew', () => {
  const growing = samplesOf(45_000, (at, ageMs) => young(at, ageMs) + at / 5_000);
  const compared = compareAtEqualAges(growing, 'worker', WINDOW);
  expect(compared !== null && isFlat(compared)).toBe(false);
});

test('what a process keeps of its work is found when nothing restarts it any more', () => {
  const leaking = samplesOf(1e9, (at) => 150 + at / 5_000);
  const compared = compareWhileOld(leaking, 'worker', WINDOW);
  expect(compared).toMatchObject({ stretch: 'without restarts' });
  expect(compared !== null && isFlat(compared)).toBe(false);
  const flat = compareWhileOld(samplesOf(1e9, young), 'worker', WINDOW);
  expect(flat !== null && isFlat(flat)).toBe(true);
});

test('windows without samples of equal age are not compared', () => {
  const apart = [
    ...samplesOf(4_000, young).filter(({ at }) => at < 300_000),
    ...samplesOf(1e9, young).filter(({ at }) => at >= 300_000),
  ];
  expect(compareAtEqualAges(apart, 'worker', WINDOW)).toBeNull();
  expect(compareAtEqualAges([], 'worker', WINDOW)).toBeNull();
  expect(compareWhileOld([], 'worker', WINDOW)).toBeNull();
});

describe('the report', () => {
  const measured: Measured = {
    samples: [...samplesOf(45_000, young), ...samplesOf(1e9, (at) => at / 1_000, 'temporal')],
    connections: [1, 4, 2].map((count, at) => ({ at: 500_000 + at, application: 'deerflow worker', count })),
    restarts: WINDOW,
    steady: WINDOW,
    limits: { 'deerflow worker': 4 },
  };

  test('shows memory and connections in a table and finds no fault with a server that is not ours', () => {
    const { table, violations } = measure(measured);
    expect(violations).toEqual([]);
    expect(table).toMatch(/^worker +600 +\d+ -> \d+ +\d+ -> \d+ +\d+ +30$/m);
    expect(table).toMatch(/^api +0 +too few +too few/m);
    expect(table).toMatch(/^deerflow worker +4 +2\.3 +2$/m);
  });

  test('does not count connections of processes that were killed a moment ago', () => {
    const [restarts, steady] = [
      { from: 0, to: 499_000 },
      { from: 499_000, to: 600_000 },
    ];
    const { violations } = measure({ ...measured, restarts, steady, limits: { 'deerflow worker': 3 } });
    expect(violations).toEqual([]);
  });

  test('names what grew and which application had too many connections', () => {
    const samples = samplesOf(1e9, (at) => 100 + at / 2_000, 'api');
    const { violations } = measure({ ...measured, samples, limits: { 'deerflow worker': 3 } });
    expect(violations).toMatchObject([
      { rule: 'flat-memory', subject: 'api', message: expect.stringContaining('with restarts') },
      { rule: 'flat-memory', subject: 'api', message: expect.stringContaining('without restarts') },
      { rule: 'flat-connections', subject: 'deerflow worker', message: '4 connections at once, of at most 3' },
    ]);
  });
});

test('the command takes whole numbers and says which one is none', () => {
  expect(parseSoakOptions(['--runs', '20', '--restarts', '0', '--seed', '7'])).toEqual({
    runs: 20,
    restarts: 0,
    seed: 7,
    help: false,
  });
  expect(parseSoakOptions([])).toMatchObject({ runs: 200, restarts: 50 });
  expect(() => parseSoakOptions(['--runs', 'many'])).toThrow('--runs: expected a whole number, got "many"');
});
