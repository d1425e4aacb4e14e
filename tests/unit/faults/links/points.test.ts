import { createPoints } from '../../../faults/links/points';

const COMMIT = { operation: 'postgres:commit of a reply', moment: 'before' } as const;

describe('fault points', () => {
  it('hold the passage that was asked for, once, and let every other one go', async () => {
    const points = createPoints('worker-1');
    const trap = points.arm(COMMIT);
    expect(points.meet({ operation: 'postgres:begin', moment: 'before' })).toBeUndefined();
    expect(points.meet({ ...COMMIT, moment: 'after' })).toBeUndefined();
    const fate = points.meet(COMMIT);
    await trap.reached;
    expect(points.meet(COMMIT)).toBeUndefined();
    trap.cut();
    await expect(fate).resolves.toBe('cut');
  });

  it('let as many passages go first as they are told', async () => {
    const points = createPoints('worker-1');
    const trap = points.arm(COMMIT, { skip: 2 });
    expect([points.meet(COMMIT), points.meet(COMMIT)]).toEqual([undefined, undefined]);
    const fate = points.meet(COMMIT);
    trap.pass();
    await expect(fate).resolves.toBe('pass');
  });

  it('say what there was where a point was not reached in time', async () => {
    const points = createPoints('worker-1');
    const trap = points.arm(COMMIT, { timeoutMs: 20 });
    void points.meet({ operation: 'postgres:begin', moment: 'before' });
    await expect(trap.reached).rejects.toThrow(
      'worker-1 did not reach "before postgres:commit of a reply". It did: postgres:begin 1',
    );
    expect(points.meet(COMMIT)).toBeUndefined();
  });
});
