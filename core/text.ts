/** Text rules that hold wherever something from outside is stored. Runs anywhere, the workflow sandbox included. */

const NUL = '\u0000';

/** Postgres stores neither NUL nor lone surrogates: both become the replacement character. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll(NUL, '\uFFFD');
}

/** `storableText` for every string of a JSON value, keys included. */
export function storableJson<T>(value: T): T {
  if (typeof value === 'string') return storableText(value) as T;
  if (Array.isArray(value)) return value.map((item: unknown) => storableJson(item)) as T;
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]: [string, unknown]) => [storableText(key), storableJson(item)]),
    ) as T;
  }
  return value;
}

/** Depth of a JSON value, counted without recursion; stops at `limit` + 1. */
export function jsonDepth(value: unknown, limit: number): number {
  let level: unknown[] = [value];
  for (let depth = 0; depth <= limit; depth += 1) {
    const children = level.flatMap((item) =>
      item !== null && typeof item === 'object' ? (Object.values(item) as unknown[]) : [],
    );
    if (children.length === 0) return depth + (level.some((item) => item !== null && typeof item === 'object') ? 1 : 0);
    level = children;
  }
  return limit + 1;
}

/** Keeps head and tail and says how much is gone. */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const marker = ` … [${text.length - limit} characters left out] … `;
  const keep = Math.max(0, limit - marker.length);
  const head = Math.ceil(keep / 2);
  return storableText(text.slice(0, head) + marker + text.slice(text.length - (keep - head)));
}

/** The text of a message's content, whatever form it has. */
export function contentText(content: string | ReadonlyArray<Record<string, unknown>>): string {
  if (typeof content === 'string') return content;
  return content
    .filter((block) => block['type'] === 'text' && typeof block['text'] === 'string')
    .map((block) => block['text'] as string)
    .join('\n');
}
