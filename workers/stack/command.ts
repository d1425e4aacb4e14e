/** Runs the main function of a command: its failures become one message and an exit code. */
import { isAppError } from '../../contracts';
import { reasonOf } from './home';

export function runCommand(main: () => Promise<void>): void {
  // A closed terminal must not keep anything from being stopped in order.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  main().then(() => process.exit(), failCommand);
}

/** A mistake on the command line is exit code 2, everything else 1. */
export function failCommand(error: unknown): void {
  process.stderr.write(`${explain(error)}\n`);
  process.exit(isAppError(error, 'bad_request') ? 2 : 1);
}

function explain(error: unknown): string {
  if (isAppError(error)) return error.message;
  const { code, path } = error as NodeJS.ErrnoException;
  if (code !== undefined && path !== undefined) return `${path}: ${reasonOf(error)}.`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
