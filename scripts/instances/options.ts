import { parseArgs } from 'node:util';
import { AppError } from '../../contracts';
import { CHECK_NAMES, type CheckName } from './checks/names';

export const COMMANDS = ['up', 'check', 'stop', 'start', 'status', 'logs', 'down'] as const;
export type Command = (typeof COMMANDS)[number];

export interface InstancesOptions {
  /** Null: help is wanted. */
  command: Command | null;
  /** Of a process. */
  name: string | null;
  kill: boolean;
  follow: boolean;
  only: readonly CheckName[];
}

export const INSTANCES_HELP = `Usage: npm run instances -- <command>

Two instances of the product on this machine, to see that it does not matter which one answers:
API a and API b, two workers, a PostgreSQL and a Temporal server of their own, and a front that
hands requests to a and b in turn and says who answered in X-DeerFlow-Upstream. There is no
Redis: streams lie in PostgreSQL, where any instance reads them. They run in the background.

  up                       start everything; what fails half-way is taken down again
  check [--only <checks>]  what one instance does, the other must see: one line per check, and
                           exit code 1 where one failed (${CHECK_NAMES.join(', ')})
  stop <name> [--kill]     stop a, b, worker-1 or worker-2; --kill: as a crash would
  start <name>             start it again
  status                   what runs, and where
  logs [<name>] [-f]       the end of the logs, of one process or all; -f goes on
  down                     stop everything, and delete everything but the logs

The configuration is your config.yaml, or config.example.yaml where you have none, with what two
instances need; "up" says what was changed. Without a model the demo model answers. "check"
brings a model of its own: it needs no key and costs nothing.

Environment variables, or lines of .env:

  DEERFLOW_MI_BASE_CONFIG       another configuration to start from
  DEERFLOW_MI_STATE_DIR         where everything is kept; .deer-flow/multi-instance
  DEERFLOW_MI_GATEWAY_A_PORT    8001 (0: any that is free; the same for the others)
  DEERFLOW_MI_GATEWAY_B_PORT    8011
  DEERFLOW_MI_FRONT_PORT        2027
  DEERFLOW_MI_POSTGRES_PORT, DEERFLOW_MI_TEMPORAL_PORT, DEERFLOW_MI_TEMPORAL_UI_PORT
  DEERFLOW_MI_WORKERS           1 or 2 worker processes; 2
  DEERFLOW_MI_KEEP_CHANNELS=1   leave IM channels on: both instances then connect each bot
`;

export function parseInstancesOptions(argv: readonly string[]): InstancesOptions {
  const { values, positionals } = readFlags(argv);
  const [command, name, ...more] = positionals;
  if (values.help || command === 'help') return { ...NOTHING, command: null };
  if (command === undefined) throw wrong('Say what to do');
  if (!isCommand(command)) throw wrong(`There is no command ${command}`);
  if (more.length > 0) throw wrong(`"${more.join(' ')}" is too much`);
  const takesName = command === 'stop' || command === 'start' || command === 'logs';
  if (name !== undefined && !takesName) throw wrong(`${command} takes no name`);
  if (name === undefined && takesName && command !== 'logs') throw wrong(`Say what to ${command}`);
  const only = values.only === undefined ? CHECK_NAMES : values.only.split(',').map(checkNamed);
  const given = { kill: values.kill, follow: values.follow, only: values.only !== undefined };
  const belongsTo = { kill: 'stop', follow: 'logs', only: 'check' } as const;
  for (const flag of ['kill', 'follow', 'only'] as const) {
    if (given[flag] && command !== belongsTo[flag]) throw wrong(`--${flag} belongs to ${belongsTo[flag]}`);
  }
  return { command, name: name ?? null, kill: values.kill, follow: values.follow, only };
}

const NOTHING = { name: null, kill: false, follow: false, only: CHECK_NAMES };

function readFlags(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        kill: { type: 'boolean', default: false },
        follow: { type: 'boolean', short: 'f', default: false },
        only: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
      strict: true,
      allowPositionals: true,
    });
  } catch (cause) {
    throw wrong((cause as Error).message);
  }
}

function isCommand(word: string): word is Command {
  return COMMANDS.some((command) => command === word);
}

function checkNamed(word: string): CheckName {
  const found = CHECK_NAMES.find((name) => name === word.trim());
  if (found === undefined) throw wrong(`There is no check ${word}`);
  return found;
}

function wrong(problem: string): AppError {
  return new AppError('bad_request', `${problem}. See --help.`);
}
