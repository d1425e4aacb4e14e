/** The peer's side of the protocol: hears requests on standard input and answers each when it is done. */
import { createInterface } from 'node:readline';
import type { PeerAnswer, PeerRequest, PeerSetup } from '../../peer-protocol';

export interface PeerProgram {
  commands: Record<string, (args: never) => Promise<unknown>>;
  close(): Promise<void>;
}

export function peerSetup(): PeerSetup {
  return JSON.parse(process.argv[2] ?? '{}') as PeerSetup;
}

/** Opens the program, says that it is ready, and serves until standard input ends. */
export async function servePeer(open: (setup: PeerSetup) => Promise<PeerProgram>): Promise<void> {
  // Ctrl-C in a terminal reaches every process of the group; the benchmark ends this one in its turn.
  process.on('SIGINT', () => undefined);
  try {
    const program = await open(peerSetup());
    const lines = createInterface(process.stdin);
    lines.on('line', (line) => void serve(program, JSON.parse(line) as PeerRequest));
    answer({ ready: true });
    await new Promise<void>((resolve) => lines.once('close', resolve));
    await program.close();
    process.exit(0);
  } catch (error) {
    process.stderr.write(`${describe(error)}\n`);
    process.exit(1);
  }
}

async function serve({ commands }: PeerProgram, { number, command, arguments: args }: PeerRequest): Promise<void> {
  try {
    const handler = commands[command];
    if (handler === undefined) throw new Error(`there is no command "${command}"`);
    answer({ number, result: (await handler(args as never)) ?? null });
  } catch (error) {
    answer({ number, error: describe(error) });
  }
}

function answer(line: PeerAnswer): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function describe(error: unknown): string {
  return error instanceof Error ? String(error.stack) : String(error);
}
