/** Reads event streams as cheaply as it can be done, so that measuring takes little from what is measured. */

export interface StreamFrame {
  event: string;
  /** Null for `end`, which has none. */
  id: string | null;
  data: string;
}

export interface FrameSplitter {
  /** The frames that are complete with this text; comments are left out. */
  push(text: string): StreamFrame[];
}

export function createFrameSplitter(): FrameSplitter {
  let rest = '';
  return {
    push(text) {
      rest += text;
      const frames: StreamFrame[] = [];
      let begin = 0;
      for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n', begin)) {
        if (!rest.startsWith(':', begin)) frames.push(parseFrame(rest.slice(begin, end)));
        begin = end + 2;
      }
      rest = rest.slice(begin);
      return frames;
    },
  };
}

function parseFrame(block: string): StreamFrame {
  const field = (name: string): string | null => {
    const prefix = `${name}: `;
    const at = block.startsWith(prefix) ? 0 : block.indexOf(`\n${prefix}`) + 1;
    if (at === 0 && !block.startsWith(prefix)) return null;
    const end = block.indexOf('\n', at);
    return block.slice(at + prefix.length, end < 0 ? block.length : end);
  };
  return { event: field('event') ?? 'message', id: field('id'), data: field('data') ?? '' };
}

/** When an event was committed and its number, as its id says. */
export function parseId(id: string): { at: number; number: number } {
  const dash = id.indexOf('-');
  return { at: Number(id.slice(0, dash)), number: Number(id.slice(dash + 1)) };
}

export interface StampedToken {
  number: number;
  sentAt: number;
}

const STAMPED = /w(\d+)@(\d{13})/g;

/** The tokens in a frame's data that carry the time at which the referee sent them. */
export function stampedTokens(data: string): StampedToken[] {
  return [...data.matchAll(STAMPED)].map(([, number, sentAt]) => ({ number: Number(number), sentAt: Number(sentAt) }));
}
