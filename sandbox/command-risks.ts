/** The table of dangerous and of doubtful commands, one simple command at a time. */
import type { ShellWord, SimpleCommand } from './shell-syntax';

const WRAPPERS = new Set(['env', 'command', 'builtin', 'exec', 'nohup', 'time', 'sudo', 'doas']);
const KEYWORDS = new Set(['if', 'then', 'else', 'elif', 'do', 'while', 'until', '!', '{']);
const SHELLS = new Set(['sh', 'bash', 'zsh', 'dash', 'ksh']);
const FETCHERS = /^(?:curl|wget|bash|sh|python[\d.]*|ruby|perl|base64)$/;
const INTERPRETERS = /^(?:sh|bash|zsh|dash|ksh|python[\d.]*|perl|ruby|node|php)$/;
const ASSIGNMENT = /^([A-Za-z_][A-Za-z0-9_]*)\+?=/;
const MOST_WRAPPERS = 8;

const SYSTEM_DIRECTORY = /^\/(?:etc|usr\/bin|usr\/sbin|bin|sbin)\//;
const HOME = String.raw`(?:~|\$HOME|\$\{HOME\})`;
const STARTUP_FILE = new RegExp(
  `^${HOME}/\\.(?:bashrc|bash_profile|bash_login|bash_logout|profile|zshrc|zprofile|zshenv|zlogin|zlogout)$`,
);
const WHOLE_TREES = new RegExp(`^(?:/\\*?|${HOME}(?:/\\*?)?|/home(?:/\\*)?|/root(?:/\\*)?)$`);

interface Invocation {
  name: string;
  nameWord: ShellWord | undefined;
  arguments: ShellWord[];
  /** Wrappers stripped from the front, as `sudo`. */
  wrappers: string[];
  /** Names of variables assigned in front of the command, by a wrapper or by `export`. */
  assigned: string[];
}

/** Why a command must not run, or null. */
export function dangerOf(command: SimpleCommand): string | null {
  const call = invocation(command);
  const words = [...command.words, ...command.redirections.map((redirection) => redirection.target)];
  if (words.some((word) => /\/proc\/[^/\s]+\/environ/.test(word.text))) return 'process environment';
  if (words.some((word) => /\/dev\/(?:tcp|udp)\//.test(word.text))) return 'raw network device';
  if (words.some((word) => /^\/etc\/g?shadow-?$/.test(collapse(word.text)))) return 'password file';
  if (call.assigned.some((name) => name === 'LD_PRELOAD' || name === 'LD_LIBRARY_PATH')) return 'library injection';
  return redirectionDanger(command) ?? commandDanger(command, call) ?? substitutionDanger(command, call);
}

/** The doubtful command as the model wrote it, or null. */
export function warningOf(command: SimpleCommand): string | null {
  const call = invocation(command);
  const texts = call.arguments.map((word) => word.text);
  const doubtful =
    call.wrappers.some((name) => name === 'sudo' || name === 'doas') ||
    call.name === 'su' ||
    call.assigned.includes('PATH') ||
    (call.name === 'chmod' && texts.some((text) => /^0?777$/.test(text))) ||
    (/^pip(?:3[\d.]*)?$/.test(call.name) && texts.includes('install')) ||
    (/^python[\d.]*$/.test(call.name) && /(?:^| )-m pip (?:.* )?install(?: |$)/.test(texts.join(' '))) ||
    (/^(?:apt|apt-get)$/.test(call.name) && texts.includes('install'));
  if (!doubtful) return null;
  const written = command.words.map((word) => word.raw).join(' ');
  return written.length > 200 ? `${written.slice(0, 200)}...` : written;
}

function commandDanger(command: SimpleCommand, call: Invocation): string | null {
  const texts = call.arguments.map((word) => word.text);
  if (call.name === 'rm' && isRecursive(texts) && texts.some((text) => WHOLE_TREES.test(collapse(text)))) {
    return 'recursive delete';
  }
  if (call.name === 'dd' && texts.some((text) => text.startsWith('if='))) return 'raw copy';
  if (/^mkfs(?:\.|$)/.test(call.name)) return 'file system creation';
  if (call.name === 'tee' && texts.some(isProtected)) return 'system file';
  const isPipeTarget = command.before === '|' || command.before === '|&';
  if (isPipeTarget && SHELLS.has(call.name)) return 'piped script';
  const isPiped = command.after === '|' || command.after === '|&';
  if (isPiped && call.name === 'base64' && texts.some((text) => /^(?:-[a-zA-Z]*[dD]|--decode)/.test(text))) {
    return 'decoded pipe';
  }
  return null;
}

function redirectionDanger(command: SimpleCommand): string | null {
  const written = command.redirections.filter((redirection) => redirection.operator.includes('>'));
  return written.some((redirection) => isProtected(redirection.target.text)) ? 'system file' : null;
}

/** A command text that comes out of a download or of a decoder. As an argument or an assigned value it is data. */
function substitutionDanger(command: SimpleCommand, call: Invocation): string | null {
  if (call.nameWord && fetches(call.nameWord) && /^["']?(?:\$\(|`)/.test(call.nameWord.raw)) return 'fetched command';
  if (/^(?:eval|source|\.)$/.test(call.name) && call.arguments.some(fetches)) return 'fetched script';
  if (!INTERPRETERS.test(call.name)) return null;
  const isCode = (index: number) => /^-[a-zA-Z]*[cepr]$/.test(call.arguments[index - 1]?.text ?? '');
  if (call.arguments.some((word, index) => fetches(word) && (isCode(index) || word.raw.startsWith('<(')))) {
    return 'fetched code';
  }
  const fed = command.redirections.filter((redirection) => /^<(?:<<)?$/.test(redirection.operator));
  return fed.some((redirection) => fetches(redirection.target)) ? 'fetched code' : null;
}

/** Whether a substitution in the word starts with a program that fetches or makes code. */
function fetches(word: ShellWord): boolean {
  return word.substitutions.some((text) => {
    const first = text
      .trim()
      .split(/\s+/)
      .find((part) => !ASSIGNMENT.test(part) && !WRAPPERS.has(part));
    return FETCHERS.test(baseName(first ?? '')) || /[|;&]\s*base64\b/.test(text);
  });
}

function invocation(command: SimpleCommand): Invocation {
  const words = [...command.words];
  const wrappers: string[] = [];
  const assigned: string[] = [];
  while (words[0]) {
    const text = words[0].text;
    const variable = ASSIGNMENT.exec(text)?.[1];
    const wraps = WRAPPERS.has(baseName(text)) && wrappers.length < MOST_WRAPPERS;
    if (variable !== undefined) assigned.push(variable);
    else if (wraps) wrappers.push(baseName(text));
    else if (!(KEYWORDS.has(text) || (wrappers.length > 0 && text.startsWith('-')))) break;
    words.shift();
  }
  const [nameWord, ...rest] = words;
  const name = baseName(nameWord?.text ?? '');
  if (/^(?:export|declare|typeset|local|readonly)$/.test(name)) {
    assigned.push(...rest.flatMap((word) => ASSIGNMENT.exec(word.text)?.[1] ?? []));
  }
  return { name, nameWord, arguments: rest, wrappers, assigned };
}

function isRecursive(texts: string[]): boolean {
  return texts.some((text) => text === '--recursive' || /^-[a-zA-Z]*[rR]/.test(text));
}

function isProtected(path: string): boolean {
  return SYSTEM_DIRECTORY.test(collapse(path)) || STARTUP_FILE.test(path);
}

/** `//etc/./shadow` is `/etc/shadow`; a closing slash says nothing, except for `~/`. */
function collapse(path: string): string {
  const short = path.replace(/\/(?:\.?\/)+/g, '/').replace(/\/\.$/, '/');
  return short.length > 1 && !short.startsWith('~') ? short.replace(/\/$/, '') : short;
}

function baseName(text: string): string {
  return text.slice(text.lastIndexOf('/') + 1);
}
