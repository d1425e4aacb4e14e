/** Owns what a benchmark starts, and ends all of it: also after a failure, and also what is just being started. */

export interface Owner {
  /** Ends together with the owner, or earlier, when its user closes it. */
  keep: <T extends { close(): Promise<void> }>(starting: Promise<T>) => Promise<T>;
  /** The last one added is called first. */
  onClose: (close: () => Promise<void>) => void;
  close: () => Promise<void>;
}

export interface OwnerOptions {
  /** Nothing is handed out any more once it is aborted. */
  signal: AbortSignal;
  log(line: string): void;
}

export function createOwner(options: OwnerOptions): Owner {
  const closers: Array<() => Promise<void>> = [];
  const starts = new Set<Promise<unknown>>();

  const own = async <T extends { close(): Promise<void> }>(starting: Promise<T>): Promise<T> => {
    const resource = await starting;
    const close = resource.close.bind(resource);
    let closing: Promise<void> | undefined;
    resource.close = () => (closing ??= close());
    closers.push(() => resource.close());
    return resource;
  };
  return {
    async keep(starting) {
      const owned = own(starting);
      starts.add(owned);
      try {
        const resource = await owned;
        options.signal.throwIfAborted();
        return resource;
      } finally {
        starts.delete(owned);
      }
    },
    onClose: (close) => void closers.push(close),
    async close() {
      // What is being started when somebody presses Ctrl-C must be ended, too.
      await Promise.allSettled(starts);
      for (const close of closers.splice(0).reverse()) {
        await close().catch((error: unknown) => options.log(`could not clean up: ${String(error)}`));
      }
    },
  };
}
