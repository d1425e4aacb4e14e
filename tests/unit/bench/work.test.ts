import { brokenCounts, workOf } from '../../../bench/load/work';

const counts = (mine: number[], complaints: string[] = []) => ({ calls: { mine, other: [99] }, complaints });

describe('what the referee must have seen of a piece of work', () => {
  const work = workOf(3, 'mine');

  it('is each turn once for every run, and nothing is said then', () => {
    expect(brokenCounts(work, 5, counts([5, 5, 5]))).toEqual([]);
  });

  it('names a turn that was asked for again, one that was left out, and one too many', () => {
    expect(brokenCounts(work, 5, counts([5, 6, 4, 1]))).toEqual([
      'turn 2 of mine was asked for 6 times in 5 runs',
      'turn 3 of mine was asked for 4 times in 5 runs',
      'turn 4 of mine was asked for 1 times in 5 runs',
    ]);
    expect(brokenCounts(work, 1, counts([]))).toHaveLength(3);
  });

  it('names requests that the referee refused', () => {
    expect(brokenCounts(work, 5, counts([5, 5, 5], ['messages is empty', 'and more']))).toEqual([
      'the referee refused 2 requests: messages is empty',
    ]);
  });
});
