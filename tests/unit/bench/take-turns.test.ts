import { takeTurns } from '../../../bench/take-turns';

const show = (figure: number): string => String(figure);

describe('measuring in turns', () => {
  it('measures every side once in each repeat, each repeat beginning with another, after warm-ups that do not count', async () => {
    const order: string[] = [];
    const count: Record<string, number> = { left: 0, right: 0 };
    const side = (name: string) => async () => {
      order.push(name);
      count[name] = (count[name] ?? 0) + 1;
      return count[name] ?? 0;
    };
    const context = { repeats: 3, signal: new AbortController().signal, log: () => undefined };
    const figures = await takeTurns(context, { sides: { left: side('left'), right: side('right') }, warmUps: 2, show });

    const measured = order.slice(-6);
    expect(measured).toEqual(['left', 'right', 'right', 'left', 'left', 'right']);
    expect(order).toHaveLength(10);
    expect(Object.fromEntries(figures)).toEqual({ left: [3, 4, 5], right: [3, 4, 5] });
  });

  it('stops before the next measurement when it is told to', async () => {
    const stop = new AbortController();
    let measured = 0;
    const context = { repeats: 100, signal: stop.signal, log: () => undefined };
    const side = async (): Promise<number> => {
      measured += 1;
      if (measured === 8) stop.abort(new Error('stopped'));
      return 1;
    };
    await expect(takeTurns(context, { sides: { side }, warmUps: 3, show })).rejects.toThrow('stopped');
    expect(measured).toBe(8);
  });
});
