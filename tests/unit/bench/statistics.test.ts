import { percentile, ratioOf, sample } from '../../../bench/statistics';

describe('a sample', () => {
  it('shows the median, also of an even count, and the extremes, and keeps the order of the repeats', () => {
    expect(sample([5, 1, 3])).toEqual({ values: [5, 1, 3], median: 3, minimum: 1, maximum: 5 });
    expect(sample([4, 1, 3, 2]).median).toBe(2.5);
  });

  it('of nothing is refused', () => {
    expect(() => sample([])).toThrow(RangeError);
  });
});

describe('a percentile', () => {
  it('lies between its neighbours', () => {
    const values = Array.from({ length: 101 }, (_, index) => 100 - index);
    expect([0, 50, 95, 99, 100].map((percent) => percentile(values, percent))).toEqual([0, 50, 95, 99, 100]);
    expect(percentile([10, 20], 95)).toBeCloseTo(19.5);
    expect(percentile([7], 99)).toBe(7);
  });

  it.each([-1, 101, Number.NaN])('of %p per cent is refused', (percent) => {
    expect(() => percentile([1], percent)).toThrow(RangeError);
  });
});

describe('a ratio', () => {
  it('is taken within each repeat, so that a slow moment of the machine does not change it', () => {
    const product = sample([20, 200, 30]);
    const peer = sample([10, 100, 10]);
    expect(ratioOf(product, peer).values).toEqual([2, 2, 3]);
    expect(ratioOf(product, peer).median).toBe(2);
  });

  it('compares medians where one side has fewer values', () => {
    expect(ratioOf(sample([10, 20, 30]), sample([10]))).toMatchObject({ values: [2], median: 2 });
  });
});
