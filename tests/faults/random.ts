/** Seeded random numbers: the same seed makes the same choices. What processes make of them is theirs. */
export interface Random {
  /** At least `from`, below `to`. */
  between(from: number, to: number): number;
  integer(from: number, to: number): number;
  pick<T>(list: readonly T[]): T;
  chance(probability: number): boolean;
  /** Letters and digits. */
  word(length: number): string;
  /** A generator of its own, so that one part's draws do not change another's. */
  fork(name: string): Random;
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  // Mulberry32.
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (from: number, to: number): number => from + next() * (to - from);
  const integer = (from: number, to: number): number => Math.floor(between(from, to));
  const pick = <T>(list: readonly T[]): T => {
    const chosen = list[integer(0, list.length)];
    if (chosen === undefined) throw new Error('nothing to pick from');
    return chosen;
  };
  return {
    between,
    integer,
    pick,
    chance: (probability) => next() < probability,
    word: (length) => Array.from({ length }, () => pick([...LETTERS])).join(''),
    fork: (name) =>
      createRandom([...name].reduce((hash, letter) => Math.imul(hash ^ letter.charCodeAt(0), 16777619), seed)),
  };
}
