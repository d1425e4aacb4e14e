import { createRandom } from '../../faults/random';

const drawsOf = (seed: number): unknown[] => {
  const random = createRandom(seed);
  return [random.integer(0, 1_000), random.word(8), random.pick(['a', 'b', 'c']), random.fork('part').between(0, 1)];
};

describe('seeded choices', () => {
  it('are the same for the same seed, and others for another', () => {
    expect(drawsOf(7)).toEqual(drawsOf(7));
    expect(drawsOf(7)).not.toEqual(drawsOf(8));
  });

  it('of one part do not depend on how much another has drawn', () => {
    const eager = createRandom(7);
    for (let count = 0; count < 100; count += 1) eager.integer(0, 10);
    expect(eager.fork('part').word(8)).toBe(createRandom(7).fork('part').word(8));
  });

  it('stay inside their bounds', () => {
    const random = createRandom(1);
    const drawn = Array.from({ length: 1_000 }, () => random.integer(2, 5));
    expect([...new Set(drawn)].sort()).toEqual([2, 3, 4]);
  });
});
