/** Ctrl-C once asks for an orderly end, twice for an end at once. */

/** Package runners pass on a signal that the terminal has sent to everybody: two this close together are one. */
const ECHO_MS = 250;

export interface StopSignals {
  first: AbortSignal;
  second: AbortSignal;
  untilFirst(): Promise<void>;
  /** Gives the signals back to whoever had them. */
  close(): void;
}

export function listenForStop(source: NodeJS.EventEmitter = process): StopSignals {
  const first = new AbortController();
  const second = new AbortController();
  let firstAt = 0;
  const onSignal = () => {
    if (!first.signal.aborted) {
      firstAt = Date.now();
      first.abort();
    } else if (Date.now() - firstAt > ECHO_MS) second.abort();
  };
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const name of names) source.on(name, onSignal);
  return {
    first: first.signal,
    second: second.signal,
    untilFirst: () =>
      new Promise((resolve) => {
        if (first.signal.aborted) resolve();
        else first.signal.addEventListener('abort', () => resolve(), { once: true });
      }),
    close: () => names.forEach((name) => source.off(name, onSignal)),
  };
}
