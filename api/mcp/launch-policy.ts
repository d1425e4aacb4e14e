/**
 * Which programs an administrator may have started over the API. Whoever writes the file is free; a session of a
 * browser is not, because it can be stolen.
 */
import { AppError } from '../../contracts';
import type { WrittenServer } from '../../contracts/schemas/mcp-config';

const LAUNCHERS = ['npx', 'uvx'];
const ALLOWLIST_VARIABLE = 'DEER_FLOW_MCP_STDIO_COMMAND_ALLOWLIST';

/** Options that run their value as code, or change how code is run. */
const EVALUATING = ['call', 'eval', 'print', 'shell', 'script-shell', 'node-arg', 'node-options'];
/** The short ones `-c` and `-e`, also with a value that is attached, or behind other letters. */
const EVALUATING_LETTER = /^-[A-Za-z]*[ce]/;
/** Launchers take options by their beginnings too. */
const SHORTEST_ABBREVIATION = 3;

/**
 * Options without a value. Any other may have one, so that what follows it is not yet the program that is started.
 * Npx takes `--no-…` for an option with a value, but for one of them.
 */
const SWITCHES: Readonly<Record<string, ReadonlySet<string>>> = {
  npx: new Set(
    `-y --yes -q --quiet -s --silent -d -dd -ddd --verbose -f --force -ws --workspaces --offline --prefer-offline
    --prefer-online --ignore-scripts --no-install --ignore-existing`.split(/\s+/),
  ),
  uvx: new Set(
    `-q --quiet -v --verbose -n --no-cache -U --upgrade --isolated --offline --refresh --reinstall --native-tls
    --managed-python --no-config --no-progress --no-index --no-build --no-binary --no-sources`.split(/\s+/),
  ),
};

const INJECTING_VARIABLES = new Set(
  `BASH_ENV DYLD_INSERT_LIBRARIES ENV LD_AUDIT LD_PRELOAD NODE_OPTIONS PERL5OPT PYTHONHOME PYTHONPATH PYTHONSTARTUP
  RUBYOPT`.split(/\s+/),
);

/**
 * @param server As it was checked by the schema.
 * @param allowed Programs that the operator allows beside the launchers of packages.
 * @throws AppError `bad_request` with what to change.
 */
export function requireSafeLaunch(name: string, server: WrittenServer, allowed: readonly string[]): void {
  if (transportOf(server) !== 'stdio') return;
  const command = commandOf(name, server);
  const commands = [...new Set([...LAUNCHERS, ...allowed])].sort();
  if (!commands.includes(command)) {
    throw new AppError(
      'bad_request',
      `MCP server '${name}' uses disallowed stdio command '${command}'. Allowed commands: ${commands.join(', ')}. ` +
        `Configure ${ALLOWLIST_VARIABLE} to extend this list.`,
    );
  }
  const option = evaluatingOption(command, (server['args'] ?? []) as readonly string[]);
  if (option !== null) {
    const remedy = 'leave it out, or write -- before what is meant for the server itself';
    throw new AppError('bad_request', `MCP server '${name}': ${command} would run code given by ${option}; ${remedy}.`);
  }
  const variable = Object.keys(server['env'] ?? {}).find((key) => INJECTING_VARIABLES.has(key.toUpperCase()));
  if (variable !== undefined) {
    throw new AppError('bad_request', `MCP server '${name}': env.${variable} can inject code and is not allowed here.`);
  }
}

export function transportOf(server: WrittenServer): unknown {
  return server['type'] ?? server['transport'] ?? 'stdio';
}

function commandOf(name: string, server: WrittenServer): string {
  const { command } = server;
  if (typeof command !== 'string' || command.trim() === '') {
    throw new AppError('bad_request', `MCP server '${name}' with type stdio needs a command.`);
  }
  if (/[\s/\\;|&`$<>]/.test(command)) {
    const expected = 'the name of one program, without a path; its parameters belong into args';
    throw new AppError('bad_request', `MCP server '${name}': command must be ${expected}.`);
  }
  return command;
}

/** Among the launcher's own options only: what stands behind the program is for the program. */
function evaluatingOption(command: string, args: readonly string[]): string | null {
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] ?? '';
    if (arg === '--' || !arg.startsWith('-')) return null;
    const [option = ''] = arg.split('=');
    if (evaluates(option)) return option;
    const hasValue = !arg.includes('=') && SWITCHES[command]?.has(arg) !== true;
    if (hasValue && args[index + 1]?.startsWith('-') !== true) index += 1;
  }
  return null;
}

function evaluates(option: string): boolean {
  if (EVALUATING_LETTER.test(option)) return true;
  const name = option.replace(/^-+/, '');
  return name.length >= SHORTEST_ABBREVIATION && EVALUATING.some((long) => long.startsWith(name));
}
