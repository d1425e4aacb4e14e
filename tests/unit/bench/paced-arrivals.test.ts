import { arrivalsOf } from '../../../bench/pacing/arrivals';

const call = (number: number, arrivedAt: number[], disturbed = false) => ({ number, arrivedAt, disturbed });

describe('what is said of calls that share a pace', () => {
  it('is their span and their shortest and longest distance', () => {
    const { seconds, shortestMs, longestMs, faults } = arrivalsOf(
      [call(1, [1_000]), call(2, [2_010]), call(3, [3_000])],
      1_000,
    );
    expect({ seconds, shortestMs, longestMs, faults }).toEqual({
      seconds: 2,
      shortestMs: 990,
      longestMs: 1_010,
      faults: [],
    });
  });

  it.each([
    ['two that came too close', [call(1, [0]), call(2, [979]), call(3, [2_000])], ['two calls were 979 ms apart']],
    ['one that overtook another', [call(1, [0]), call(2, [2_000]), call(3, [1_000])], ['call 3 overtook another']],
    ['one that was lost', [call(1, [0]), call(2, []), call(3, [2_000])], ['call 2 was made 0 times']],
    ['one that was made twice', [call(1, [0]), call(2, [1_000, 2_000])], ['call 2 was made 2 times']],
  ])('names %s', (_what, calls, faults) => {
    expect(arrivalsOf(calls, 1_000).faults).toEqual(expect.arrayContaining(faults));
  });

  it('allows that what waited in a killed process is overtaken', () => {
    expect(arrivalsOf([call(1, [0]), call(2, [2_000], true), call(3, [1_000])], 1_000).faults).toEqual([]);
  });
});
