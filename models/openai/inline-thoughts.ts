/**
 * Thoughts that a model writes into its text: `<think>…</think>` before the answer. Only there: further on the words are
 * part of what it says. A block that is never closed is a thought that was cut off.
 */

export interface SplitText {
  content: string;
  reasoning: string;
}

const [OPEN, CLOSE] = ['<think>', '</think>'];

export class ThoughtSplitter {
  private where: 'before' | 'thought' | 'answer' = 'before';
  /** What cannot be told yet: white space, and the beginning of a mark. */
  private held = '';
  private blocks = 0;
  private isFirstOfThought = true;

  /** What is new with the next part of the text. */
  take(text: string): SplitText {
    this.held += text;
    const found: SplitText = { content: '', reasoning: '' };
    while (this.step(found));
    return found;
  }

  /** What was held back, once nothing more comes. */
  end(): SplitText {
    const rest = this.held;
    this.held = '';
    if (this.where === 'thought') return { content: '', reasoning: rest.trimEnd() };
    return { content: this.blocks > 0 ? rest.trim() : rest, reasoning: '' };
  }

  /** Whether there is more to look at in what is held. */
  private step(found: SplitText): boolean {
    if (this.where === 'before') return this.stepBefore();
    if (this.where === 'thought') return this.stepThought(found);
    found.content += this.held;
    this.held = '';
    return false;
  }

  private stepBefore(): boolean {
    const said = this.held.trimStart();
    if (OPEN.startsWith(said)) return false;
    if (said.startsWith(OPEN)) {
      this.where = 'thought';
      this.isFirstOfThought = true;
      this.held = said.slice(OPEN.length);
      return true;
    }
    this.where = 'answer';
    if (this.blocks > 0) this.held = said;
    return true;
  }

  private stepThought(found: SplitText): boolean {
    if (this.isFirstOfThought) this.held = this.held.trimStart();
    const end = this.held.indexOf(CLOSE);
    const known = (
      end < 0 ? this.held.slice(0, this.held.length - beginningAtEnd(this.held)) : this.held.slice(0, end)
    ).trimEnd();
    if (known !== '') {
      // Blocks one after the other are paragraphs of one thought.
      if (this.isFirstOfThought && this.blocks > 0) found.reasoning += '\n\n';
      this.isFirstOfThought = false;
      found.reasoning += known;
    }
    this.held = end < 0 ? this.held.slice(known.length) : this.held.slice(end + CLOSE.length);
    if (end < 0) return false;
    this.blocks += 1;
    this.where = 'before';
    return true;
  }
}

/** How many characters at the end may be the beginning of the closing mark. */
function beginningAtEnd(text: string): number {
  for (let length = Math.min(CLOSE.length - 1, text.length); length > 0; length -= 1) {
    if (CLOSE.startsWith(text.slice(-length))) return length;
  }
  return 0;
}
