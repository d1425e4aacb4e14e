/** Reads server-sent events from the chunks of a response body. */
import type { JsonValue } from '../../contracts';

export interface StreamFrame {
  event: string;
  data: JsonValue;
  /** What a reader that was cut off sends back to go on after this frame. */
  id?: string;
}

/**
 * Yields each whole frame. What is not whole when the body ends is dropped: it comes again after a resumption. A frame
 * whose data is no JSON is passed over.
 */
export async function* readFrames(body: AsyncIterable<Uint8Array>): AsyncGenerator<StreamFrame> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    // A carriage return at the end may be the first half of a line end.
    const usable = rest.endsWith('\r') ? rest.length - 1 : rest.length;
    const blocks = rest.slice(0, usable).split(/(?:\r\n|\n|\r){2}/);
    const last = blocks.pop() ?? '';
    rest = last + rest.slice(usable);
    for (const block of blocks) {
      const frame = parseBlock(block);
      if (frame) yield frame;
    }
  }
}

function parseBlock(block: string): StreamFrame | undefined {
  let event = 'message';
  let id: string | undefined;
  const data: string[] = [];
  for (const line of block.split(/\r\n|\n|\r/)) {
    const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === 'event') event = value;
    else if (field === 'data') data.push(value);
    else if (field === 'id' && !value.includes('\0')) id = value;
  }
  if (data.length === 0) return undefined;
  try {
    return { event, data: JSON.parse(data.join('\n')) as JsonValue, ...(id === undefined ? {} : { id }) };
  } catch {
    return undefined;
  }
}
