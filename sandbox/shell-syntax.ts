/**
 * Enough of the shell's grammar to see which commands a text would run: quotes, substitutions, redirections, here
 * documents. It decides nothing; `command-guard` and `command-audit` do.
 */

export interface ShellWord {
  /** The word with its quotes removed. Substitutions stand in it as they were written. */
  text: string;
  /** The word as written. */
  raw: string;
  /** Texts inside `$(…)`, backticks and `<(…)`, which the shell runs to make this word. */
  substitutions: string[];
}

export interface Redirection {
  operator: string;
  target: ShellWord;
}

export interface SimpleCommand {
  words: ShellWord[];
  redirections: Redirection[];
  /** The operator before the command and the one after it; empty at the ends. */
  before: string;
  after: string;
}

/** Thrown inside the scanner where a quote or a substitution never ends. */
class UnclosedError extends Error {}

/** The simple commands of a text in order, or null where a quote is not closed. */
export function parseCommands(text: string): SimpleCommand[] | null {
  try {
    return new Scanner(text).commands();
  } catch (error) {
    if (error instanceof UnclosedError) return null;
    throw error;
  }
}

/** The text without the bodies of here documents; the whole text where it cannot be read. */
export function withoutHeredocs(text: string): string {
  const scanner = new Scanner(text);
  try {
    scanner.commands();
  } catch (error) {
    if (error instanceof UnclosedError) return text;
    throw error;
  }
  const bodies = scanner.heredocBodies;
  return bodies
    .map(([, end], index) => text.slice(end, bodies[index + 1]?.[0]))
    .reduce((kept, part) => kept + part, text.slice(0, bodies[0]?.[0]));
}

const DEEPEST_NESTING = 100;
const OPERATORS = ['&&', '||', ';;', '|&', ';', '|', '&', '\n', '(', ')'];
const REDIRECTION = /^(?:\d*(?:<<<|<<-?|<>|>>|>\||>&|<&|>|<)|&>>?)/;

class Scanner {
  /** Where the bodies of here documents start and end. */
  readonly heredocBodies: Array<[start: number, end: number]> = [];
  private index = 0;
  private pendingHeredocs: Array<{ delimiter: string; indented: boolean }> = [];

  constructor(
    private readonly text: string,
    private readonly depth = 0,
  ) {}

  commands(): SimpleCommand[] {
    const commands: SimpleCommand[] = [];
    let current: SimpleCommand = { words: [], redirections: [], before: '', after: '' };
    while (this.index < this.text.length) {
      if (this.skipBlank()) continue;
      if (current.words.length === 0 && this.text.startsWith('((', this.index)) {
        this.index = this.endOfArithmetic(this.index + 2);
        continue;
      }
      if (this.redirection(current)) continue;
      const operator = OPERATORS.find((candidate) => this.text.startsWith(candidate, this.index));
      if (operator === undefined) {
        current.words.push(this.word());
        continue;
      }
      this.index += operator.length;
      if (operator === '\n') this.skipHeredocs();
      if (current.words.length > 0 || current.redirections.length > 0) {
        commands.push({ ...current, after: operator });
        current = { words: [], redirections: [], before: operator, after: '' };
      } else if (current.before === '' || operator === '|') {
        current.before = operator;
      }
    }
    if (current.words.length > 0 || current.redirections.length > 0) commands.push(current);
    return commands;
  }

  private skipBlank(): boolean {
    const found = /^(?:[^\S\n]|\\\n|#)/.exec(this.text.slice(this.index, this.index + 2))?.[0];
    if (found === undefined) return false;
    this.index += found === '#' ? this.untilNewline() : found.length;
    return true;
  }

  private untilNewline(): number {
    const end = this.text.indexOf('\n', this.index);
    return (end < 0 ? this.text.length : end) - this.index;
  }

  private redirection(command: SimpleCommand): boolean {
    const operator = REDIRECTION.exec(this.text.slice(this.index, this.index + 16))?.[0];
    if (operator === undefined) return false;
    // `<(…)` and `>(…)` are words.
    if (/^[<>]$/.test(operator) && this.text[this.index + 1] === '(') return false;
    this.index += operator.length;
    while (this.text[this.index] === ' ' || this.text[this.index] === '\t') this.index += 1;
    const target = this.word();
    const kind = operator.replace(/^\d+/, '');
    if (kind === '<<' || kind === '<<-') {
      this.pendingHeredocs.push({ delimiter: target.text, indented: kind === '<<-' });
    } else {
      command.redirections.push({ operator: kind, target });
    }
    return true;
  }

  /** Bodies of here documents are data. */
  private skipHeredocs(): void {
    for (const { delimiter, indented } of this.pendingHeredocs) {
      const start = this.index;
      while (this.index < this.text.length) {
        const line = this.text.slice(this.index, this.index + this.untilNewline());
        this.index += Math.min(line.length + 1, this.text.length - this.index);
        if ((indented ? line.replace(/^\t+/, '') : line) === delimiter) break;
      }
      this.heredocBodies.push([start, this.index]);
    }
    this.pendingHeredocs = [];
  }

  private word(): ShellWord {
    const start = this.index;
    const substitutions: string[] = [];
    let text = '';
    while (this.index < this.text.length) {
      const character = this.text[this.index] ?? '';
      const isProcess = /^[<>]\(/.test(this.text.slice(this.index, this.index + 2));
      if (!isProcess && /[\s|&;()<>]/.test(character)) break;
      text += this.piece(character, substitutions, false);
    }
    return { text, raw: this.text.slice(start, this.index), substitutions };
  }

  /** One quoted string, escape, substitution or plain character. */
  private piece(character: string, substitutions: string[], quoted: boolean): string {
    const pair = this.text.slice(this.index, this.index + 2);
    if (character === '\\') return this.escape(quoted);
    if (character === "'" && !quoted) return this.singleQuoted(this.index + 1);
    if (pair === "$'" && !quoted) return this.ansiQuoted();
    if (character === '"' && !quoted) return this.doubleQuoted(substitutions);
    if (this.text.startsWith('$((', this.index)) return this.take(this.endOfArithmetic(this.index + 3));
    if (pair === '$(' || (!quoted && (pair === '<(' || pair === '>('))) {
      const end = this.endOfSubstitution(this.index + 2);
      substitutions.push(this.text.slice(this.index + 2, end - 1));
      return this.take(end);
    }
    if (character === '`') return this.backticks(substitutions);
    this.index += 1;
    return character;
  }

  private escape(quoted: boolean): string {
    const next = this.text[this.index + 1] ?? '';
    this.index += 2;
    if (next === '\n') return '';
    return quoted && !'"$`\\'.includes(next) ? `\\${next}` : next;
  }

  private singleQuoted(from: number): string {
    const end = this.text.indexOf("'", from);
    if (end < 0) throw new UnclosedError();
    this.index = end + 1;
    return this.text.slice(from, end);
  }

  private ansiQuoted(): string {
    const found = /^\$'((?:[^'\\]|\\[^])*)'/.exec(this.text.slice(this.index));
    if (!found) throw new UnclosedError();
    this.index += found[0].length;
    return unescapeAnsi(found[1] ?? '');
  }

  private doubleQuoted(substitutions: string[]): string {
    let text = '';
    this.index += 1;
    while (this.text[this.index] !== '"') {
      if (this.index >= this.text.length) throw new UnclosedError();
      text += this.piece(this.text[this.index] ?? '', substitutions, true);
    }
    this.index += 1;
    return text;
  }

  private backticks(substitutions: string[]): string {
    let end = this.index + 1;
    while (end < this.text.length && this.text[end] !== '`') end += this.text[end] === '\\' ? 2 : 1;
    if (end >= this.text.length) throw new UnclosedError();
    substitutions.push(this.text.slice(this.index + 1, end).replace(/\\([`\\$])/g, '$1'));
    return this.take(end + 1);
  }

  private take(end: number): string {
    const taken = this.text.slice(this.index, end);
    this.index = end;
    return taken;
  }

  /** Index after the `)` that closes a substitution; quotes and nested substitutions inside are stepped over. */
  private endOfSubstitution(from: number): number {
    if (this.depth > DEEPEST_NESTING) throw new UnclosedError();
    const inner = new Scanner(this.text, this.depth + 1);
    inner.index = from;
    for (let depth = 1; depth > 0;) {
      const character = inner.text[inner.index];
      if (character === undefined) throw new UnclosedError();
      if (character === '(' || character === ')') {
        depth += character === '(' ? 1 : -1;
        inner.index += 1;
      } else {
        inner.piece(character, [], false);
      }
    }
    return inner.index;
  }

  private endOfArithmetic(from: number): number {
    const end = this.text.indexOf('))', from);
    if (end < 0) throw new UnclosedError();
    return end + 2;
  }
}

function unescapeAnsi(text: string): string {
  return text.replace(/\\(x[0-9A-Fa-f]{1,2}|[0-7]{1,3}|u[0-9A-Fa-f]{1,4}|[^])/g, (whole, code: string) => {
    if (/^[xu][0-9A-Fa-f]/.test(code)) return String.fromCharCode(Number.parseInt(code.slice(1), 16));
    if (/^[0-7]/.test(code)) return String.fromCharCode(Number.parseInt(code, 8));
    const simple: Record<string, string> = { n: '\n', t: '\t', r: '\r' };
    return simple[code] ?? (/[\\'"?]/.test(code) ? code : whole);
  });
}
