import { parseArgs } from 'node:util';
import { AppError } from '../../contracts';

export interface DoctorOptions {
  help: boolean;
  json: boolean;
  /** Ask every model for one word. */
  live: boolean;
  /** `--home` and `--config`, as the stack's own command takes them. */
  stackFlags: string[];
}

export const DOCTOR_HELP = `Usage: npm run doctor [-- options]

Says whether this installation would start and work, and if not, why and what to do.
It starts nothing but a short workflow on the Temporal server, and changes nothing but to
make the home folder where it is missing.

  --live           also ask each configured model for one word (costs a few tokens)
  --json           print the findings as JSON
  --config <file>  look at this configuration
  --home <folder>  look at this home
  --help           this text

It ends with 0 when nothing would be refused, with 1 when something would, and with 2
when it was called in a wrong way.
`;

export function parseDoctorOptions(argv: readonly string[]): DoctorOptions {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        live: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
        config: { type: 'string' },
        home: { type: 'string' },
      },
      strict: true,
      allowPositionals: false,
    });
    const flag = (name: string, value: string | undefined) => (value === undefined ? [] : [name, value]);
    const stackFlags = [...flag('--config', values.config), ...flag('--home', values.home)];
    return { help: values.help, json: values.json, live: values.live, stackFlags };
  } catch (cause) {
    throw new AppError('bad_request', `${(cause as Error).message}. See --help.`);
  }
}
