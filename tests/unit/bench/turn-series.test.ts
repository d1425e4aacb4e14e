import { growthPerTurn, medianMsPerTurn } from '../../../bench/flatness/turn-series';

describe('the time of a turn', () => {
  it('is the median over a window, from the reply before to its own', () => {
    // Turns 2 to 6 took 10, 10, 40, 10 and 100 ms.
    const commits = [0, 10, 20, 60, 70, 170];
    expect(medianMsPerTurn(commits, { from: 2, to: 7 })).toBe(10);
    expect(medianMsPerTurn(commits, { from: 4, to: 5 })).toBe(40);
    expect(medianMsPerTurn(commits, { from: 6, to: 7 })).toBe(100);
  });

  it('leaves out the first turn, before which there is no reply', () => {
    expect(medianMsPerTurn([500, 507], { from: 1, to: 3 })).toBe(7);
  });

  it('is refused where the run has no turn of the window', () => {
    expect(() => medianMsPerTurn([0, 1], { from: 10, to: 20 })).toThrow(RangeError);
  });
});

describe('what a turn adds', () => {
  const readings = [
    { turn: 0, value: 1_000 },
    { turn: 10, value: 2_000 },
    { turn: 30, value: 8_000 },
  ];

  it('is an average over the window', () => {
    expect(growthPerTurn(readings, { from: 0, to: 10 })).toBe(100);
    expect(growthPerTurn(readings, { from: 10, to: 30 })).toBe(300);
  });

  it('is taken from a straight line where the window begins or ends between two readings', () => {
    expect(growthPerTurn(readings, { from: 5, to: 20 })).toBeCloseTo((5_000 - 1_500) / 15);
  });

  it('takes the last of several readings at one turn: what came late still belongs to it', () => {
    const still = [
      { turn: 0, value: 0 },
      { turn: 10, value: 100 },
      { turn: 10, value: 150 },
      { turn: 20, value: 250 },
    ];
    expect(growthPerTurn(still, { from: 10, to: 20 })).toBe(10);
  });

  it('is refused without any reading', () => {
    expect(() => growthPerTurn([], { from: 0, to: 1 })).toThrow(RangeError);
  });
});
