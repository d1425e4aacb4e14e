/** Options of `npm run test:faults`. */
import { parseArgs } from 'node:util';

export interface FaultOptions {
  seed: number;
  long: boolean;
  /** Part of the names of the scenarios to run. */
  only: string | null;
  list: boolean;
  help: boolean;
  /** Git revision of the version that runs beside this one. */
  old: string | null;
}

export const HELP = `npm run test:faults -- [options]

Starts the product as processes of their own, hurts them, and checks what must hold whatever happens.

  --seed N       choices of the scenarios; a random one is taken and printed unless given
  --long         every scenario, for about 25 minutes, instead of the short set
  --only PART    only scenarios whose name has this in it, of either set; may be given with --seed
  --old REF      the revision whose worker runs beside the new one (the last that changed worker code unless given)
  --list         names and promises of all scenarios
  --help         this text
`;

const MAX_SEED = 2 ** 31;

export function parseFaultOptions(argv: readonly string[]): FaultOptions {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      seed: { type: 'string' },
      long: { type: 'boolean', default: false },
      only: { type: 'string' },
      old: { type: 'string' },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const seed = values.seed === undefined ? Math.floor(Math.random() * MAX_SEED) : Number(values.seed);
  if (!Number.isInteger(seed) || seed < 0) throw new Error(`--seed: expected a whole number, got "${values.seed}"`);
  const { long, list, help } = values;
  return { seed, long, list, help, only: values.only ?? null, old: values.old ?? null };
}
