/**
 * Judges a `bash` command before it runs. It catches accidents and crude attacks and leaves
 * ordinary work alone; it is no boundary.
 */
import { dangerOf, warningOf } from './command-risks';
import { parseCommands, withoutHeredocs, type SimpleCommand } from './shell-syntax';

export type AuditVerdict =
  { verdict: 'pass' } | { verdict: 'warn'; warning: string } | { verdict: 'block'; reason: string; rejected: boolean };

export const LONGEST_COMMAND = 10_000;

const SECURITY_REASON = 'security violation detected';
const DEEPEST_NESTING = 8;

/** Dangers that only the whole text shows. */
const WHOLE_TEXT_DANGERS = [
  /(?<![\w:.-])([\w:.-]{1,64})\s*\(\)\s*\{[^}]*\1\s*\|\s*\1\s*&/,
  /\bwhile\s+(?:true|:|\[?\s*1\s*\]?)\s*[;\n][^]*?&\s*(?:;\s*)?done\b/,
];

export function auditCommand(command: string): AuditVerdict {
  if (command.trim() === '') return { verdict: 'block', reason: 'empty command', rejected: true };
  if (command.length > LONGEST_COMMAND) return { verdict: 'block', reason: 'command too long', rejected: true };
  if (command.includes('\0')) return { verdict: 'block', reason: 'null byte detected', rejected: true };
  if (isDangerous(command, 0)) return { verdict: 'block', reason: SECURITY_REASON, rejected: false };
  const warning = warningIn(command, 0);
  return warning === null ? { verdict: 'pass' } : { verdict: 'warn', warning };
}

/** What the log keeps of a command: all of it, or its beginning where the command itself was refused as input. */
export function auditLogCommand(command: string, verdict: AuditVerdict): string {
  if (verdict.verdict !== 'block' || !verdict.rejected || command.length <= 200) return command;
  return `${command.slice(0, 200)}... (${command.length} characters)`;
}

function isDangerous(text: string, depth: number): boolean {
  const commands = simpleCommands(text);
  if (depth === 0 && WHOLE_TEXT_DANGERS.some((danger) => danger.test(withoutData(text)))) return true;
  return commands.some(
    (command) =>
      dangerOf(command) !== null ||
      (depth < DEEPEST_NESTING && nested(command).some((inner) => isDangerous(inner, depth + 1))),
  );
}

function warningIn(text: string, depth: number): string | null {
  for (const command of simpleCommands(text)) {
    const inner = depth < DEEPEST_NESTING ? nested(command) : [];
    const warning =
      warningOf(command) ?? inner.map((part) => warningIn(part, depth + 1)).find((found) => found !== null);
    if (warning) return warning;
  }
  return null;
}

/** Texts that the shell would run as commands of their own. */
function nested(command: SimpleCommand): string[] {
  const words = [...command.words, ...command.redirections.map((redirection) => redirection.target)];
  const scripts = command.words.filter((_, index) => isScriptArgument(command, index)).map((word) => word.text);
  return [...words.flatMap((word) => word.substitutions), ...scripts];
}

/** Whether a word is what `sh -c` or `eval` runs. */
function isScriptArgument(command: SimpleCommand, index: number): boolean {
  const before = command.words[index - 1]?.text ?? '';
  const texts = command.words.slice(0, index).map((word) => word.text);
  if (/^-[a-z]*c$/.test(before)) return texts.some((text) => /(?:^|\/)(?:ba|z|da|k)?sh$/.test(text));
  return texts[0] === 'eval';
}

function simpleCommands(text: string): SimpleCommand[] {
  const parsed = parseCommands(text);
  if (parsed) return parsed;
  // A quote that never closes: the text is judged as one command.
  const words = text.split(/\s+/).filter((word) => word !== '');
  const plain = words.map((raw) => ({ raw, text: raw.replace(/["']/g, ''), substitutions: [] }));
  return [{ words: plain, redirections: [], before: '', after: '' }];
}

/** The text without the bodies of here documents and without quoted data. */
function withoutData(text: string): string {
  return withoutHeredocs(text).replace(/'[^']*'|"(?:[^"\\]|\\.)*"/g, '""');
}
