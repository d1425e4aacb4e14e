/** Runs actions with the same key one after the other, in the order of their arrival; other keys do not wait. */
export interface KeyedMutex {
  run<T>(key: string, action: () => Promise<T>): Promise<T>;
}

export function createKeyedMutex(): KeyedMutex {
  const tails = new Map<string, Promise<void>>();
  return {
    async run(key, action) {
      const before = tails.get(key) ?? Promise.resolve();
      const { promise: released, release } = createGate();
      const tail = before.then(() => released);
      tails.set(key, tail);
      try {
        await before;
        return await action();
      } finally {
        release();
        if (tails.get(key) === tail) tails.delete(key);
      }
    },
  };
}

function createGate(): { promise: Promise<void>; release: () => void } {
  let release = () => {};
  const promise = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { promise, release };
}
