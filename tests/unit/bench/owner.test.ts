import { setTimeout as delay } from 'node:timers/promises';
import { createOwner } from '../../../bench/owner';

const stop = new AbortController();
const lines: string[] = [];
const log = (line: string): void => void lines.push(line);
const never = new AbortController().signal;

describe('what a benchmark starts', () => {
  it('is ended in the opposite order, once each, also where ending one of them fails', async () => {
    const ended: string[] = [];
    const resource = (name: string) => ({
      close: async (): Promise<void> => {
        ended.push(name);
        if (name === 'second') throw new Error('it hangs on');
      },
    });
    const owner = createOwner({ signal: never, log });
    await owner.keep(Promise.resolve(resource('first')));
    await owner.keep(Promise.resolve(resource('second')));
    owner.onClose(async () => void ended.push('third'));
    const early = await owner.keep(Promise.resolve(resource('early')));
    await early.close();
    await owner.close();
    expect(ended).toEqual(['early', 'third', 'second', 'first']);
    expect(lines).toEqual([expect.stringContaining('it hangs on')]);
  });

  it('is ended also when it was only being started as everything had to stop', async () => {
    let ended = false;
    const owner = createOwner({ signal: stop.signal, log });
    const starting = delay(30).then(() => ({ close: async () => void (ended = true) }));
    const kept = owner.keep(starting);
    stop.abort(new Error('stopped'));
    await Promise.all([owner.close(), expect(kept).rejects.toThrow('stopped')]);
    expect(ended).toBe(true);
  });

  it('does not hold up the end where it could not be started', async () => {
    const owner = createOwner({ signal: never, log });
    await expect(owner.keep(Promise.reject(new Error('no port')))).rejects.toThrow('no port');
    await owner.close();
  });
});
