/** Measures several sides in turns, so that what disturbs the machine disturbs all of them. */
import type { BenchContext } from './benchmark';

/** One measurement of one side. Gives back its figure. */
export type Measurement = () => Promise<number>;

/**
 * One warm-up of each side, then the repeats: every side once in each, and each repeat begins with another side. Gives
 * back the figures of each side in the order of the repeats.
 */
export async function takeTurns(
  context: Pick<BenchContext, 'repeats' | 'signal' | 'log'>,
  sides: Readonly<Record<string, Measurement>>,
): Promise<Record<string, number[]>> {
  const names = Object.keys(sides);
  const figures: Record<string, number[]> = {};
  for (const name of names) {
    context.signal.throwIfAborted();
    context.log(`warming up: ${name}`);
    await sides[name]?.();
  }
  for (let repeat = 0; repeat < context.repeats; repeat += 1) {
    for (let place = 0; place < names.length; place += 1) {
      const name = names[(repeat + place) % names.length];
      const measure = name === undefined ? undefined : sides[name];
      if (name === undefined || measure === undefined) continue;
      context.signal.throwIfAborted();
      const figure = await measure();
      (figures[name] ??= []).push(figure);
      context.log(`repeat ${repeat + 1} of ${context.repeats}: ${name} ${figure.toFixed(1)}`);
    }
  }
  return figures;
}
