import { setTimeout as sleep } from 'node:timers/promises';
import { closedLoop } from '../../../bench/load/closed-loop';

const signal = new AbortController().signal;

describe('clients in a closed loop', () => {
  it('keep as many pieces of work going as there are clients, and no more', async () => {
    let active = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      active += 1;
      most = Math.max(most, active);
      await sleep(5);
      active -= 1;
    };
    const { results } = await closedLoop({ clients: 4, durationMs: 60, signal, work });
    expect(most).toBe(4);
    expect(results.length).toBeGreaterThan(4);
  });

  it('finish what has begun when the time is over, and count it', async () => {
    const { results, elapsedMs } = await closedLoop({
      clients: 2,
      durationMs: 1,
      signal,
      work: () => sleep(30, 'done'),
    });
    expect(results).toEqual(['done', 'done']);
    expect(elapsedMs).toBeGreaterThan(25);
  });

  it('stop all together when one piece of work fails, and say why', async () => {
    let active = 0;
    let begun = 0;
    const work = async (): Promise<void> => {
      begun += 1;
      if (begun === 3) throw new Error('the run failed');
      active += 1;
      await sleep(10);
      active -= 1;
    };
    await expect(closedLoop({ clients: 3, durationMs: 5_000, signal, work })).rejects.toThrow('the run failed');
    expect({ active, begun }).toEqual({ active: 0, begun: 3 });
  });

  it('begin nothing more once they are told to stop', async () => {
    const stop = new AbortController();
    const loop = closedLoop({
      clients: 2,
      durationMs: 5_000,
      signal: stop.signal,
      work: async () => stop.abort(new Error('stopped')),
    });
    await expect(loop).rejects.toThrow('stopped');
  });
});
