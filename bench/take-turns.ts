/** Measures several sides in turns, so that what disturbs the machine disturbs all of them. */
import type { BenchContext } from './benchmark';

export interface Turns<Figure> {
  /** One measurement of each side, by its name. */
  sides: Readonly<Record<string, () => Promise<Figure>>>;
  /** How often each side is measured before it counts: code is compiled then, and connections are open. */
  warmUps: number;
  /** The figure in a line of progress. */
  show: (figure: Figure) => string;
}

/**
 * The warm-ups of each side, then the repeats: every side once in each, and each repeat begins with another side. Gives
 * back the figures of each side in the order of the repeats.
 */
export async function takeTurns<Figure>(
  context: Pick<BenchContext, 'repeats' | 'signal' | 'log'>,
  { sides, warmUps, show }: Turns<Figure>,
): Promise<Map<string, Figure[]>> {
  const names = Object.keys(sides);
  const figures = new Map(names.map((name): [string, Figure[]] => [name, []]));
  for (const [name, warmUp] of Object.entries(sides)) {
    if (warmUps > 0) context.log(`warming up: ${name}`);
    for (let count = 0; count < warmUps; count += 1) {
      context.signal.throwIfAborted();
      await warmUp();
    }
  }
  for (let repeat = 0; repeat < context.repeats; repeat += 1) {
    const first = repeat % names.length;
    for (const name of [...names.slice(first), ...names.slice(0, first)]) {
      context.signal.throwIfAborted();
      const figure = await sides[name]?.();
      if (figure === undefined) continue;
      figures.get(name)?.push(figure);
      context.log(`repeat ${repeat + 1} of ${context.repeats}: ${name} ${show(figure)}`);
    }
  }
  return figures;
}
