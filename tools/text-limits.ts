/** Cutting long texts so that the result, marker included, stays within a limit. Zero switches a limit off. */

/** Keeps equal parts of head and tail. */
export function cutMiddle(text: string, limit: number): string {
  if (limit <= 0 || text.length <= limit) return text;
  const marker = (skipped: number) => `\n... [middle cut: ${skipped} characters skipped] ...\n`;
  // The number of digits may grow by what the marker itself takes away, never beyond that of the whole text.
  const room = limit - marker(text.length).length;
  if (room <= 0) return headOf(text, limit);
  const tail = Math.floor(room / 2);
  const head = room - tail;
  return joinParts(text, head, tail, marker(text.length - head - tail));
}

/** Keeps the head and says how much it is and how to see the rest. */
export function cutTail(text: string, limit: number, hint: string): string {
  if (limit <= 0 || text.length <= limit) return text;
  const marker = (shown: number) => `\n... [cut: showing the first ${shown} of ${text.length} characters. ${hint}]`;
  const room = limit - marker(text.length).length;
  if (room <= 0) return headOf(text, limit);
  return `${headOf(text, room)}${marker(room)}`;
}

/** Head and tail of given lengths around a marker. */
export function joinParts(text: string, head: number, tail: number, marker: string): string {
  return `${headOf(text, head)}${marker}${tail > 0 ? text.slice(-tail).toWellFormed() : ''}`;
}

/** The first characters of a text, without half of a character at the end. */
export function headOf(text: string, length: number): string {
  return text.slice(0, length).toWellFormed();
}
