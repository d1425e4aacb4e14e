/** What `npm start` tells the person in front of it. Everything else goes to the log files under the home. */
export interface Progress {
  step(text: string): void;
  warn(text: string): void;
}

export function createProgress(output: { write(text: string): unknown }): Progress {
  return {
    step: (text) => void output.write(`${text}\n`),
    warn: (text) => void output.write(`! ${text}\n`),
  };
}
