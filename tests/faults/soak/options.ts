import { parseArgs } from 'node:util';

export interface SoakOptions {
  runs: number;
  restarts: number;
  seed: number;
  help: boolean;
}

export const HELP = `npm run soak -- [options]

Keeps the product at work while its processes and servers are restarted at random, and checks what must hold at the end:
every promise of the fault suite, and that memory and connections are flat.

  --runs N       runs of random plans (200)
  --restarts N   restarts of one process, of one kind or of everything (50)
  --seed N       choices of plans and restarts; a random one is taken and printed unless given
  --help         this text

The defaults take about twelve minutes on two cores.
`;

const MAX_SEED = 2 ** 31;

export function parseSoakOptions(argv: readonly string[]): SoakOptions {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      runs: { type: 'string', default: '200' },
      restarts: { type: 'string', default: '50' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * MAX_SEED)) },
      help: { type: 'boolean', default: false },
    },
  });
  const whole = (name: 'runs' | 'restarts' | 'seed'): number => {
    if (!/^\d{1,10}$/.test(values[name])) throw new Error(`--${name}: expected a whole number, got "${values[name]}"`);
    return Number(values[name]);
  };
  return { runs: whole('runs'), restarts: whole('restarts'), seed: whole('seed'), help: values.help };
}
