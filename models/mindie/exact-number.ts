/** Numbers that mean the same after reading as they did in the text. */

/** Null for a number that would be rounded to another whole number, to zero or to infinity. */
export function exactNumber(text: string): number | null {
  const value = Number(text);
  if (!Number.isFinite(value)) return null;
  const [mantissa = ''] = text.split(/e/i);
  if (value === 0) return /[1-9]/.test(mantissa) ? null : value;
  const isWhole = /^[+-]?\d+$/.test(text);
  return isWhole && !Number.isSafeInteger(value) ? null : value;
}

/** Whether every number of a JSON text is exact. */
export function numbersAreExact(json: string): boolean {
  const withoutTexts = json.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""');
  const numbers = withoutTexts.match(/-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/gi) ?? [];
  return numbers.every((number) => exactNumber(number) !== null);
}
