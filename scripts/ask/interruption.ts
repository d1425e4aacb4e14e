/** Ctrl-C in the middle of an answer: what shall become of the run? */
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

export type Choice = 'stop' | 'leave';

/** Asks until the answer is clear. Nobody there to answer, or another Ctrl-C, leaves the run alone: it is durable. */
export function askWhatToDo(options: {
  input: Readable;
  ask(text: string): void;
  signal: AbortSignal;
}): Promise<Choice> {
  return new Promise((resolve) => {
    // Not as a terminal: that would swallow the next Ctrl-C.
    const lines = createInterface({ input: options.input, terminal: false });
    const decide = (choice: Choice) => {
      options.signal.removeEventListener('abort', onAbort);
      // Before the close, which by itself means that nobody is there.
      resolve(choice);
      lines.close();
    };
    const onAbort = () => decide('leave');
    options.signal.addEventListener('abort', onAbort, { once: true });
    const prompt = () => options.ask('\nStop the run (s) or leave it running (l)? ');
    lines.on('line', (line) => {
      const answer = line.trim().toLowerCase();
      if (answer === 's' || answer === 'stop') decide('stop');
      else if (answer === 'l' || answer === 'leave') decide('leave');
      else prompt();
    });
    lines.on('close', () => decide('leave'));
    prompt();
    if (options.signal.aborted) onAbort();
  });
}
