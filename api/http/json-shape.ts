export interface JsonShape {
  /** How deep lists and objects lie in each other. */
  depth: number;
  /** Lists, objects and what is in them, roughly. */
  values: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPENING = 0x7b;
const CLOSING = 0x7d;
/** With this bit set a square bracket is the curly one. */
const CURLY_BIT = 0x20;

/**
 * What a JSON text would become, told from its bytes, up to the first limit that it passes. Parsing makes some fifty
 * bytes of one byte of the worst texts, and takes seconds in which nobody else is answered. Texts that are no JSON have
 * a shape too.
 */
export function jsonShape(bytes: Buffer, limits: JsonShape): JsonShape {
  let depth = 0;
  const shape = { depth: 0, values: 1 };
  for (let index = 0; index < bytes.length && shape.values <= limits.values; index += 1) {
    const byte = bytes[index] ?? 0;
    if (byte === QUOTE) index = endOfString(bytes, index + 1);
    else if (byte === COMMA) shape.values += 1;
    else if ((byte | CURLY_BIT) === OPENING) {
      shape.values += 1;
      depth += 1;
      if (depth > shape.depth) shape.depth = depth;
      if (depth > limits.depth) return shape;
    } else if ((byte | CURLY_BIT) === CLOSING) depth -= 1;
  }
  return shape;
}

/** Where the closing quote of a string is, or the end. */
function endOfString(bytes: Buffer, start: number): number {
  let end = bytes.indexOf(QUOTE, start);
  while (end !== -1 && isEscaped(bytes, start, end)) end = bytes.indexOf(QUOTE, end + 1);
  return end === -1 ? bytes.length : end;
}

/** A quote after an odd number of backslashes. */
function isEscaped(bytes: Buffer, start: number, quote: number): boolean {
  let first = quote;
  while (first > start && bytes[first - 1] === BACKSLASH) first -= 1;
  return (quote - first) % 2 === 1;
}
