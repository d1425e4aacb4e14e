/** Takes secrets out of what is logged or shown: by the name of a key, and by the look of a text. */

const SECRET_KEY =
  /authorization$|cookie$|api[-_]?key$|token$|password|passwd|passphrase|secret|credential|private[-_]?key|^dsn$|database_?url$/i;
const MAX_DEPTH = 8;
const MAX_ENTRIES = 200;
const CENSOR = '[redacted]';

const SECRET_TEXTS: ReadonlyArray<readonly [RegExp, string]> = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, CENSOR],
  // Credentials in an address: everything between the scheme and the host.
  // The length of the scheme is bounded, or every letter of a long word would be tried as its beginning.
  [/([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/?#]+@/gi, `$1${CENSOR}@`],
  [/\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, `$1 ${CENSOR}`],
  [/\bsk-[A-Za-z0-9_*-]{6,}/g, CENSOR],
  [/\b(gh[pousr]_[A-Za-z0-9]{16,}|xox[a-z]-[A-Za-z0-9-]{8,}|AKIA[0-9A-Z]{12,}|AIza[A-Za-z0-9_-]{20,})/g, CENSOR],
  [/\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g, CENSOR],
  // Also at the end of a longer name, as `PGPASSWORD`; a value in quotes goes up to the closing one.
  [/(api[-_]?key|(?:access|auth|refresh|id)[-_]?token|password|secret)(["']?\s*[=:]\s*)"[^"]*/gi, `$1$2"${CENSOR}`],
  [
    /(api[-_]?key|(?:access|auth|refresh|id)[-_]?token|password|secret)(["']?\s*[=:]\s*'?)[^\s"'&,;]+/gi,
    `$1$2${CENSOR}`,
  ],
];

export function redactText(text: string): string {
  return SECRET_TEXTS.reduce((result, [form, replacement]) => result.replace(form, replacement), text);
}

/** A copy of any value that is fit for the log: no secrets, no cycles, bounded in depth and width. */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  if (depth >= MAX_DEPTH) return '[deeper]';
  if (value instanceof Error) return redact(plainError(value), depth + 1);
  if (Array.isArray(value)) return value.slice(0, MAX_ENTRIES).map((item) => redact(item, depth + 1));
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  const entries = Object.entries(value).slice(0, MAX_ENTRIES);
  return Object.fromEntries(
    entries.map(([key, item]) => [key, isSecret(key, item) ? CENSOR : redact(item, depth + 1)]),
  );
}

/** Numbers and booleans under such a name are counts and switches, not secrets. */
function isSecret(key: string, value: unknown): boolean {
  return (
    value !== null && value !== '' && (typeof value === 'string' || typeof value === 'object') && SECRET_KEY.test(key)
  );
}

function plainError(error: Error): Record<string, unknown> {
  const { name, message, stack, cause } = error;
  return { ...error, type: name, message, stack, ...(cause === undefined ? {} : { cause }) };
}
