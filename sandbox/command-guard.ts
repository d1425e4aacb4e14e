/**
 * Refuses commands for the host's own shell that reach for files outside the agent's directories. Best effort: host
 * execution is not isolation, and this does not make it so.
 */
import { isWithin } from './virtual-paths';
import { parseCommands, type ShellWord, type SimpleCommand } from './shell-syntax';

const SYSTEM_PREFIXES = ['/bin', '/usr/bin', '/usr/sbin', '/sbin', '/opt/homebrew/bin', '/dev'];
const FILE_COMMANDS = new Set([
  'awk',
  'cat',
  'cp',
  'du',
  'find',
  'grep',
  'head',
  'less',
  'ln',
  'ls',
  'more',
  'mv',
  'rm',
  'sed',
  'tail',
  'tar',
]);
const PREFIXES = new Set(['command', 'builtin']);
const BREAK = String.raw`\s"'\`;&|<>()`;
const URL = new RegExp(String.raw`\b[A-Za-z][A-Za-z0-9+.-]*://[^${BREAK}]*`, 'g');
const PARENT_SEGMENT = new RegExp(String.raw`(?<![^${BREAK}=:,/\\])\.\.(?![^${BREAK}=:,/\\])`);
/** A path that starts at the root: nothing that could belong to a relative path or to a variable stands before it. */
const ABSOLUTE_PATH = new RegExp(String.raw`(?<![A-Za-z0-9_./~*?\])-])/[^${BREAK},=:]+`, 'g');

/** Why the command is refused, or null. `allowedRoots` are virtual roots and custom mounts. */
export function guardCommand(command: string, allowedRoots: readonly string[]): string | null {
  if (/file:\/\//i.test(command)) return 'file:// URLs are not allowed';
  const text = command.replace(URL, ' ');
  if (PARENT_SEGMENT.test(text)) return "paths with '..' are not allowed";
  const allowed = [...allowedRoots, ...SYSTEM_PREFIXES];
  const commands = parseCommands(command);
  const words = commands?.flatMap(allWords) ?? [];
  const outside = outsidePath(text, words, allowed);
  if (outside !== null) return `the path '${outside}' is outside ${allowedRoots.join(', ')}`;
  return commands ? commandsProblem(commands, allowedRoots, false) : null;
}

function commandsProblem(commands: SimpleCommand[], roots: readonly string[], nested: boolean): string | null {
  for (const command of commands) {
    const problem = directoryProblem(command, roots, nested) ?? rootProblem(command) ?? parentProblem(command);
    if (problem !== null) return problem;
    for (const text of allWords(command).flatMap((word) => word.substitutions)) {
      const inner = parseCommands(text);
      const innerProblem = inner ? commandsProblem(inner, roots, true) : 'a substitution could not be read';
      if (innerProblem !== null) return innerProblem;
    }
  }
  return null;
}

/** `cd` and `pushd` may only lead to places whose path can be read. */
function directoryProblem(command: SimpleCommand, roots: readonly string[], nested: boolean): string | null {
  const words = [...command.words];
  while (
    words[0] &&
    (PREFIXES.has(words[0].text) || /^(?:[A-Za-z_]\w*=.*|[{!]|if|then|else|do|while|until)$/.test(words[0].text))
  ) {
    words.shift();
  }
  const [name, ...rest] = words;
  if (name?.text !== 'cd' && name?.text !== 'pushd') return null;
  if (nested) return `${name.text} inside a substitution is not allowed`;
  const target = rest.find((word) => !/^-[LPe@n]+$/.test(word.text) && word.text !== '--');
  if (!target || target.text === '-' || /^["']?[~$`]/.test(target.raw)) {
    return `${name.text} needs a plain path below ${roots.join(', ')}`;
  }
  if (target.text.startsWith('/') && !roots.some((root) => isWithin(target.text, root))) {
    return `${name.text} leads outside ${roots.join(', ')}`;
  }
  return null;
}

function rootProblem(command: SimpleCommand): string | null {
  const index = command.words.findIndex((word) => FILE_COMMANDS.has(word.text.slice(word.text.lastIndexOf('/') + 1)));
  if (index < 0) return null;
  return command.words.slice(index + 1).some((word) => isRootDirectory(word.text))
    ? "the path '/' is not allowed"
    : null;
}

/** The same rule as for the raw text, for paths that quotes take apart. */
function parentProblem(command: SimpleCommand): string | null {
  const found = allWords(command).some((word) => PARENT_SEGMENT.test(word.text.replace(URL, ' ')));
  return found ? "paths with '..' are not allowed" : null;
}

function outsidePath(text: string, words: ShellWord[], allowed: readonly string[]): string | null {
  const quoted = words.map((word) => word.text).filter((word) => word.startsWith('/'));
  const candidates = [...[...text.matchAll(ABSOLUTE_PATH)].map((found) => found[0]), ...quoted];
  return candidates.find((path) => !isAllowedPath(path, allowed)) ?? null;
}

function isAllowedPath(path: string, allowed: readonly string[]): boolean {
  if (isRootDirectory(path)) return true;
  // Neither prose nor the placeholders of a route stand for a file. Shell expansions do.
  if (/[^\0-\x7f]/.test(path) || /(?<!\$)\{[A-Za-z_]\w*\}/.test(path))
    return !/\$\{|\{[^}]*(?:,|\.\.)[^}]*\}/.test(path);
  const plain = path.replace(/\/{2,}/g, '/');
  return allowed.some((root) => isWithin(plain, root));
}

/** `/` alone is judged by the command that it is given to: elsewhere it divides numbers. */
function isRootDirectory(path: string): boolean {
  return /^\/[/.]*$/.test(path) && !path.includes('..');
}

function allWords(command: SimpleCommand): ShellWord[] {
  return [...command.words, ...command.redirections.map((redirection) => redirection.target)];
}
