/**
 * The gateway of MindIE escapes newlines once too often: a reply has `\` and `n` where the model wrote a new line. In
 * fenced code the two characters stay, because there a program may mean them.
 */

const FENCE = '```';

/** Takes a text in pieces: a mark may be cut in two, and a fence stays open over pieces. */
export interface NewlineDecoder {
  /** What is certain of the text so far and was not given out yet. */
  push(piece: string): string;
  /** The rest. */
  end(): string;
}

export function createNewlineDecoder(): NewlineDecoder {
  let fenced = false;
  let held = '';

  function decode(text: string): string {
    const parts = text.split(FENCE);
    return parts
      .map((part, index) => {
        if (index > 0) fenced = !fenced;
        return fenced ? part : part.replaceAll('\\n', '\n');
      })
      .join(FENCE);
  }

  return {
    push(piece) {
      const text = held + piece;
      const certain = certainLength(text);
      held = text.slice(certain);
      return decode(text.slice(0, certain));
    },
    end() {
      const rest = held;
      held = '';
      return decode(rest);
    },
  };
}

export function decodeNewlines(text: string): string {
  const decoder = createNewlineDecoder();
  return decoder.push(text) + decoder.end();
}

/** Up to where no later piece can change the meaning: the end may be half of an escape or a part of a fence. */
function certainLength(text: string): number {
  if (text.endsWith('\\')) return text.length - 1;
  let ticks = 0;
  while (ticks < text.length && text.charAt(text.length - 1 - ticks) === '`') ticks += 1;
  return text.length - (ticks % FENCE.length);
}
