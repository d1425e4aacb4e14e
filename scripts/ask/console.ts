/** Two outputs that can be held back while a question to the person stands open. */
import type { Outputs } from './render';

export interface Console extends Outputs {
  hold(): void;
  release(): void;
}

interface Sink {
  write(text: string): unknown;
}

export function createConsole(standard: Sink, error: Sink): Console {
  let held: (() => void)[] | undefined;
  const emit = (write: () => void) => (held ? void held.push(write) : write());
  return {
    answer: (text) => emit(() => standard.write(text)),
    note: (line) => emit(() => error.write(`${line}\n`)),
    hold: () => (held ??= []),
    release() {
      const writes = held ?? [];
      held = undefined;
      for (const write of writes) write();
    },
  };
}
