/** A place in a text. */
export class Scanner {
  position = 0;

  constructor(readonly text: string) {}

  get atEnd(): boolean {
    return this.position >= this.text.length;
  }

  /** The next character; empty at the end. */
  get next(): string {
    return this.text.charAt(this.position);
  }

  skipSpace(): void {
    this.match(/\s+/y);
  }

  /** Goes past these characters if they come next. */
  take(expected: string): boolean {
    if (!this.text.startsWith(expected, this.position)) return false;
    this.position += expected.length;
    return true;
  }

  /** Goes past what a sticky pattern matches here. */
  match(pattern: RegExp): string | null {
    pattern.lastIndex = this.position;
    const [found] = pattern.exec(this.text) ?? [null];
    if (found !== null) this.position += found.length;
    return found;
  }
}
