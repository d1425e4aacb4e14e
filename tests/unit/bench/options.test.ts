import { BENCHMARK_NAMES } from '../../../bench/benchmark';
import { HELP, UsageError, parseBenchOptions } from '../../../bench/options';

describe('the command line of the benchmarks', () => {
  it('takes names in any case, once each, in the order of their numbers', () => {
    expect(parseBenchOptions(['b3', 'B1', 'B3']).names).toEqual(['B1', 'B3']);
    expect(parseBenchOptions(['all']).names).toEqual(BENCHMARK_NAMES);
  });

  it('repeats five times, as often as it is told, or once in a quick run', () => {
    expect(parseBenchOptions(['B1']).repeats).toBe(5);
    expect(parseBenchOptions(['B1', '--repeats', '3']).repeats).toBe(3);
    expect(parseBenchOptions(['B1', '--repeats=7', '--quick'])).toMatchObject({ repeats: 7, quick: true });
    expect(parseBenchOptions(['B1', '--quick']).repeats).toBe(1);
  });

  it('kills forty workers, as many as it is told, or four in a quick run', () => {
    expect(parseBenchOptions(['B5']).kills).toBe(40);
    expect(parseBenchOptions(['B5', '--kills', '200']).kills).toBe(200);
    expect(parseBenchOptions(['B5', '--quick']).kills).toBe(4);
    expect(() => parseBenchOptions(['B5', '--kills', '0'])).toThrow(/--kills: expected a whole number from 1/);
  });

  it.each<[string[], RegExp]>([
    [[], /Which benchmark\? Name some of B1/],
    [['B8'], /no benchmark "B8": expected B1, .* or all/],
    [['B1', '--fast'], /no option --fast/],
    [['B1', '--repeats'], /whole number from 1 to 100, got nothing/],
    [['B1', '--repeats', '0'], /got 0/],
    [['B1', '--repeats', '2.5'], /got 2\.5/],
  ])('refuses %p with a sentence that says what was expected', (argv, message) => {
    expect(() => parseBenchOptions(argv)).toThrow(UsageError);
    expect(() => parseBenchOptions(argv)).toThrow(message);
  });

  it('explains itself, and makes the document, without the name of a benchmark', () => {
    expect(parseBenchOptions(['--help']).help).toBe(true);
    expect(parseBenchOptions(['--document'])).toMatchObject({ document: true, names: [] });
    expect(BENCHMARK_NAMES.filter((name) => !HELP.includes(name))).toEqual([]);
  });
});
