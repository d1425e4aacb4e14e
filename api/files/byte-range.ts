export interface ByteRange {
  start: number;
  /** The last byte, included. */
  end: number;
}

const SINGLE_RANGE = /^bytes=\s*(\d{0,15})\s*-\s*(\d{0,15})\s*$/i;

/**
 * The range that a `Range` header asks for. Null where the header is to be ignored, which the standard (RFC 9110, 14.2)
 * wants for malformed ranges and allows for several at once: the answer is then the whole.
 */
export function parseByteRange(header: string, size: number): ByteRange | 'unsatisfiable' | null {
  const [, first = '', last = ''] = SINGLE_RANGE.exec(header) ?? [];
  if (first === '' && last === '') return null;
  if (first === '') {
    const length = Number(last);
    return length === 0 || size === 0 ? 'unsatisfiable' : { start: Math.max(0, size - length), end: size - 1 };
  }
  const start = Number(first);
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== '' && Number(last) < start) return null;
  return start >= size ? 'unsatisfiable' : { start, end };
}
